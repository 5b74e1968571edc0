/* SPDX-License-Identifier: Apache-2.0 */
/* kscore: what its parts share: the programs that a candidate is compared with, and the knobs. */
#pragma once

#include "kcamp.h"
#include "kgain.h"
#include "krecord.h"
#include "status.h"

/* An evaluation to compare with: the reference, or the incumbent. */
struct rival {
	char *id;
	json_t *record; /* owned */
	const json_t *timing;
	double noise;
};

/* Of this run. */
extern struct scorer {
	json_t *roofline; /* trials/000/roofline.json, or NULL */
	/* for a linear search: task.json, or NULL when there is none */
	json_t *task;
	bool linear;
	bool thin; /* write thin records */
	double multiplier, min_gain;
	struct rival reference, incumbent;
	bool incumbent_holds; /* it is correct and timed */
	char *archive_best;   /* id of the best in the given archive, or NULL */
} scorer;
/* The record that is being scored, its times, and its score. */
extern struct krec scored;
extern const json_t *timing;
extern json_t *score;
/* Dies: it cannot be compared WITH that program. */
_Noreturn void refuse(const char *fault, const char *with);

/* rival.c */

/*
 * Reads the rival ID (NULL: the record says) from PATH. Returns whether it is a correct and timed
 * kernel; only with such a kernel can others be compared.
 */
bool load_rival(struct rival *r, const char *path, const char *id);
/* What the record is compared with: the incumbent, else the reference. */
const struct rival *rival_of(void);

/*
 * Adds the comparison of a candidate with the incumbent to SCORE, as "gain", "gain_ratio" and so
 * on.
 */
void put_gain(const struct kgain_ratio *r, bool gain);

/*
 * decide.c: adds "decision" on a round of a linear search, and the resulting gain, from the record
 * and what SCORE has so far. The other function checks that the decision stored in the record
 * equals that of SCORE, which was computed again; it reports a difference.
 */
void add_decision(void);
bool decision_holds(void);
