/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kchain: how fast a program is over the reference, though nobody times the two in the same
 * minutes. A candidate is timed in turns with an anchor; the anchor's own speed-up is known from
 * the races that it ran before. The product is the score, workload by workload, with the intervals
 * of all links.
 */
#ifndef KCHAIN_H
#define KCHAIN_H

#include "kcamp.h"
#include "kgain.h"

/*
 * Half-width of an anchor's speed-up, as a share, from which on it is raced against the reference
 * again.
 */
#define KCHAIN_WIDE 0.03

struct kchain {
	/* owned: [{"workload", "speedup", "speedup_low", "speedup_high"}] */
	json_t *rows;
	struct kgain_ratio speedup; /* over the rows; n 0: nothing is known */
	/* a link was measured on a busy machine, or from times taken apart */
	bool provisional;
	/* owned: the race against the reference that says so; NULL: the score */
	char *from;
};

/*
 * The newest race of program ID against the reference, as known when the scores of TRIAL are made:
 * an anchor.ndjson of a trial up to TRIAL, or a verify.ndjson of one before it; one of TRIAL itself
 * counts when it is CLOSED. False when there is none. Free with kchain_free in any case.
 */
bool kchain_raced(
    const struct kcamp *camp, const char *id, long trial, bool closed, struct kchain *c);
/*
 * The same, else what ID's own score in the campaign says; the reference is 1x by definition,
 * without rows.
 */
bool kchain_known(
    const struct kcamp *camp, const char *id, long trial, bool closed, struct kchain *c);
/*
 * The ids that such races up to trial LAST are of, as members of an object: who asks for many
 * programs looks here first. New reference.
 */
json_t *kchain_races(const struct kcamp *camp, long last);
/* As kchain_known for the scored RECORD; with TRIAL -1 as its score says. */
void kchain_of_record(const struct kcamp *camp, const json_t *record, long trial, struct kchain *c);
/* A baseline, by its race with the reference in trial 0, from that evaluation of the REFERENCE. */
bool kchain_baseline(const json_t *reference, const char *name, struct kchain *c);
/* The link on WORKLOAD; n 0: there is none. */
struct kgain_ratio kchain_link(const struct kchain *c, const char *workload);
void kchain_free(struct kchain *c);

/*
 * A speed-up for people, the same everywhere: "16.4x (16.1 to 16.7)", with ", provisional" inside
 * where it is, and without an interval where the records have none. The caller frees.
 */
char *kchain_text(const struct kgain_ratio *r, bool provisional);

#endif
