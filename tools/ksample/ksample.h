/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksample: the plan of a trial (the parent of each branch, and its target), and the record made
 * from it.
 */
#pragma once

#include "karch.h"
#include "kmemo.h"
#include "kverdict.h"

/* A step between two cells, the mean change that it caused, and how often that was measured. */
struct pair {
	int from, to;
	double n, mean; /* of logarithms of speed */
};

enum { FIELD_PAIRS = 256 };

/* field.c: what is known about steps. Zero-initialise, add, fit, query. */
struct field {
	struct karch_length lengths[KARCH_LENGTHS];
	struct pair pair[FIELD_PAIRS];
	size_t pairs;
	double noise, in_place; /* the variance of an attempt in place; the number of attempts
                                 * that it is based on */
	double scale;           /* the variance that a change of level brings */
	double triangle[FIELD_PAIRS][FIELD_PAIRS], solved[FIELD_PAIRS];
	double tried[KARCH_CELLS][KARCH_CELLS], failed[KARCH_CELLS][KARCH_CELLS];
};
/* The directions of a cell, as kgrad writes them. */
void field_add(struct field *f, int from, const json_t *directions);
void field_fit(struct field *f);
/* The change by a step, as a logarithm of speed: mean and standard deviation. */
void field_step(const struct field *f, int from, int to, double *mean, double *sd);

/* Everything that a plan depends on. */
extern struct search {
	json_t *failures;                /* in the application, see kverdict.h; owned */
	bool has_field;                  /* steps have been recorded */
	struct field *field;             /* owned */
	double paid[KARCH_CELLS];        /* how often attempts from a cell were faster */
	json_t *directions[KARCH_CELLS]; /* of the gradient; owned; NULL: none */
	uint64_t seed;
	long trial;
	int branches;
} search;

/* The logarithm of a program's speed; of its score if nothing is timed. */
double speed_of(const struct karch_row *row);

struct plan {
	const char *pick, *strategy;
	int island;
	/* NULL: the parent is BROKEN or, if that is NULL too, the reference */
	const struct karch_row *parent;
	const json_t *broken; /* entry of the archive's list */
	int target;           /* cell, or -1 */
};

enum { MAX_BRANCHES = 99 };

/* The trial being planned. */
extern struct planner {
	double median;
	bool tabu[KARCH_CELLS];  /* targets of recent trials */
	bool taken[KARCH_CELLS]; /* targets of lower branches of this trial */
	const json_t *repairs[MAX_BRANCHES + 1];
	bool fresh;      /* only the reference is correct */
	struct krng rng; /* of the branch being planned */
} planner;

/*
 * aim.c: strategy and target for the parent of PLAN, whose log speed is BEHIND below the best. If
 * the target stays -1, it is any cell of the frontier.
 */
void choose_target(struct plan *plan, double behind);
int draw_frontier(void);
int draw_initial(void);

/*
 * PLANS[1] to PLANS[LAST]: those of the branches. They must not aim at the same cell or repair the
 * same candidate, so a plan depends on those of the branches before it.
 */
void plan_branches(struct plan *plans, int last);

/* The plan as the member "sample"; new reference. */
json_t *sample_json(const struct plan *plan, int branch);

/* Seed of the record's own draws; new reference. */
json_t *seed_json(int branch);
/* What the application said about programs that were put into it; nothing if none was. */
void add_application(json_t *sample);

/*
 * linear.c: the same for a round of a linear search, for which no plan is drawn: its parent is the
 * last accepted program.
 */
json_t *linear_json(void);
