/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kplan: the plan of a round: one hypothesis and one change, stated before the code, as a JSON
 * object in a fenced block with the info string "plan".
 */
#ifndef KPLAN_H
#define KPLAN_H

#include "kio.h"

struct kplan {
	json_t *json; /* the object; owned; NULL unless valid */
	/* what is wrong, in words for who has to do better; owned; NULL when valid */
	char *fault;
	/* bytes of the text up to the end of the block; 0: no plan stands first */
	size_t end;
};

/*
 * Read the plan of a reply of LEN bytes. Always fills P (kplan_free): either json or fault. The
 * block must be the first fenced one, and the only one of its kind; hypothesis, change, category
 * and bucket are needed.
 */
void kplan_read(const char *text, size_t len, struct kplan *p);
void kplan_free(struct kplan *p);

/*
 * What is wrong with PLAN in view of INEFFECTIVE, the directions of rolled-back rounds
 * ([{"round","category","change"}]), and of a review (REVIEW: at least three directions, all
 * different and none of them tried in vain), or NULL. The caller frees.
 */
char *kplan_history_fault(const json_t *plan, const json_t *ineffective, bool review);

/* The same for a change that was kept: ACCEPTED is [{"round","category","change"}]. */
char *kplan_repeat_fault(const json_t *plan, const json_t *accepted);

/* Rollbacks in a row after which a plan must rest on something that no plan before it found. */
enum { KPLAN_STALL = 3 };
/*
 * What is wrong with the plan's search in view of SEARCHED, the rows of earlier plans
 * ([{"round","source","finding"}]), and of STREAK rollbacks in a row; or NULL. The caller frees.
 */
char *kplan_novelty_fault(const json_t *plan, const json_t *searched, long streak);

/* The metric that the plan's evidence begins with; NULL: it has no evidence. The caller frees. */
char *kplan_metric(const json_t *plan);

/* TEXT in lower case, runs of anything but letters and digits as one blank. The caller frees. */
char *kplan_normal(const char *text);

#endif
