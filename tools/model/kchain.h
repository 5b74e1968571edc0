/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kchain: the speed-up of a program over the reference, although the two are not timed in the same
 * minutes. A candidate is timed in turns with an anchor; the anchor's own speed-up is known from
 * earlier races. The product is the score, workload by workload, with the intervals of all links.
 */
#pragma once

#include "kcamp.h"
#include "kgain.h"

/*
 * If an anchor's interval has at least this half-width, as a share of its speed-up, it is raced
 * against the reference again.
 */
#define KCHAIN_WIDE 0.03

struct kchain {
	/* owned: [{"workload", "speedup", "speedup_low", "speedup_high"}] */
	json_t *rows;
	struct kgain_ratio speedup; /* over the rows; n 0: nothing is known */
	/* a link was measured on a busy machine, or not in turns */
	bool provisional;
	/* owned: the race against the reference it comes from; NULL: the score */
	char *from;
};

/*
 * The newest race of program ID against the reference that is known when TRIAL is scored: an
 * anchor.ndjson of a trial up to TRIAL, or a verify.ndjson of an earlier one; one of TRIAL itself
 * counts when it is CLOSED. False when there is none. Free with kchain_free in any case.
 */
bool kchain_raced(const char *id, long trial, bool closed, struct kchain *c);
/*
 * The same, or else ID's own score in the campaign; the reference is 1x by definition, without
 * rows.
 */
bool kchain_known(const char *id, long trial, bool closed, struct kchain *c);
/*
 * The ids of all programs with such races, as members of an object: code that asks for many
 * programs looks here first. New reference.
 */
json_t *kchain_races(void);
/* As kchain_known, for the scored RECORD; with TRIAL -1 from its score. */
void kchain_of_record(const json_t *record, long trial, struct kchain *c);
/* A baseline, from its race with the reference in trial 0, in that evaluation of the REFERENCE. */
bool kchain_baseline(const json_t *reference, const char *name, struct kchain *c);
/* The link for WORKLOAD; n 0: there is none. */
struct kgain_ratio kchain_link(const struct kchain *c, const char *workload);
void kchain_free(struct kchain *c);

/*
 * A speed-up for people, formatted the same everywhere: "16.4x (16.1 to 16.7)", with ",
 * provisional" inside if it is, and without an interval if the records have none. The caller frees.
 */
const char *kchain_text(const struct kgain_ratio *r, bool provisional);
