/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kplan: the plan of a round: one hypothesis and one change, stated before the code, as a JSON
 * object in a fenced block with the info string "plan".
 */
#pragma once

#include "kio.h"

struct kplan {
	json_t *json; /* the object; owned; NULL unless valid */
	/* what is wrong, in words for the author of the next plan; owned; NULL when valid */
	char *fault;
	/* bytes of the text up to the end of the block; 0: it does not begin with a plan */
	size_t end;
};

/*
 * Read the plan of a reply of LEN bytes. Always fills P (kplan_free): either json or fault. The
 * block must be the first fenced one, and the only plan; hypothesis, change, category and bucket
 * are required.
 */
void kplan_read(const char *text, size_t len, struct kplan *p);
void kplan_free(struct kplan *p);

/*
 * What is wrong with PLAN given INEFFECTIVE, the directions of rolled-back rounds
 * ([{"round","category","change"}]), and as a review if REVIEW is set (at least three directions,
 * all different, none of them tried in vain), or NULL. The caller frees.
 */
char *kplan_history_fault(const json_t *plan, const json_t *ineffective, bool review);

/* The same for a change that was kept: ACCEPTED is [{"round","category","change"}]. */
char *kplan_repeat_fault(const json_t *plan, const json_t *accepted);

/* After this many rollbacks in a row a plan must rest on something that no earlier plan found. */
enum { KPLAN_STALL = 3 };
/*
 * What is wrong with the plan's search given SEARCHED, the rows of earlier plans
 * ([{"round","source","finding"}]), and STREAK rollbacks in a row; or NULL. The caller frees.
 */
char *kplan_novelty_fault(const json_t *plan, const json_t *searched, long streak);

/*
 * The metric at the beginning of the plan's evidence; NULL: it has no evidence. The caller frees.
 */
char *kplan_metric(const json_t *plan);

/*
 * TEXT in lower case, with every run of characters other than letters and digits replaced by one
 * blank. The caller frees.
 */
char *kplan_normal(const char *text);
