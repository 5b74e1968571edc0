/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kends: the four conditions that may end a linear search, T1 to T4 (docs/linear.md), computed in
 * one place for everybody who asks: the run that stops, the status, the rounds' records and the
 * report.
 */
#pragma once

#include "kcamp.h"

enum { KENDS_TARGET, KENDS_EFFICIENCY, KENDS_ROUNDS, KENDS_REQUEST, KENDS };

/*
 * Texts for each: "target"; "performance target reached"; the knobs or the file that it comes from.
 */
extern const struct kends_text {
	const char *name, *what, *from;
} kends_texts[KENDS];

struct kends {
	struct {
		bool set; /* the user has set this condition */
		bool holds;
	} at[KENDS];
	char *reason; /* for the first that holds, one line; owned; NULL: none holds */
};

/*
 * After trial LAST, with DRAFTS that do not count (klinear.h), ACCEPTED being the scored record of
 * the last accepted round (the baseline's or NULL: no speed target is reached yet). Reads the task
 * when the target is a rate. Free with kends_free.
 */
void kends_find(long last, long drafts, const json_t *accepted, struct kends *e);
void kends_free(struct kends *e);
/*
 * The same as a list for pages, with {"number", "what", "from", "holds", "set"} for each. New
 * reference.
 */
json_t *kends_rows(const struct kends *e);
