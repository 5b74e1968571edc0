/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksample: the plan of a trial (who is the parent of each branch, and where it is to go), and the
 * record made of it.
 */
#ifndef KSAMPLE_H
#define KSAMPLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "karch.h"
#include "kcamp.h"
#include "kmemo.h"

/* What the gradient knows of a cell. */
struct slope {
	bool known;         /* transitions have left the cell */
	double weight;      /* 0 to 1: how promising a parent from here is */
	json_t *directions; /* [{"direction", "samples", "successes"}]; owned; may be NULL */
};

/* Everything that a plan is a function of. */
struct search {
	const struct kcamp *camp;
	struct karch archive; /* without what is masked */
	struct kmemo_masks masks;
	struct slope slopes[KARCH_CELLS];
	bool has_slopes;
	uint64_t seed;
	long trial;
	int branches;
};

/* Read the cells of a gradient file; PATH NULL: none. */
void load_slopes(struct search *s, const char *path);
void free_slopes(struct search *s);

struct plan {
	const char *pick, *strategy;
	int island;
	/* NULL: BROKEN is the parent, or, when that is NULL too, the reference */
	const struct karch_row *parent;
	const json_t *broken; /* entry of the archive's list */
	int target;           /* cell, or -1 */
};

/*
 * The plan of BRANCH (1, 2, …). The branches of a trial run as separate processes, and yet must not
 * aim at the same cell or repair the same candidate: each of them plans the branches before its own
 * as well, from streams that depend on nothing else.
 */
struct plan plan_branch(const struct search *s, int branch);

/* The plan as the member "sample"; new reference. */
/* Adds speed-up, interval and time of a row, as far as there are any. */
void put_times(const struct karch_row *row, json_t *o);
json_t *sample_json(const struct search *s, const struct plan *plan, int branch);

/* Seed of the record's own draws; new reference. */
json_t *seed_json(const struct search *s, int branch);

/*
 * linear.c: the same for a round of a linear search, which has no plan to draw: its parent is the
 * last accepted program.
 */
json_t *linear_json(const struct search *s);

#endif
