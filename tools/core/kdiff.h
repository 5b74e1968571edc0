/* SPDX-License-Identifier: Apache-2.0 */
/* kdiff: what changed between two texts, line by line; always the same for the same texts. */
#pragma once

#include "kutil.h"

struct kdiff {
	bool *removed;   /* for each line of the first text: it is not in the second */
	bool *added;     /* for each line of the second text: it is not in the first */
	size_t lines[2]; /* lines of each text; a last line without a newline counts */
	size_t removals, additions;
};

/*
 * A shortest edit script (E. W. Myers, An O(ND) difference algorithm, 1986). For texts that differ
 * by more than KDIFF_MAX lines, only the common beginning and end are matched. Free with
 * kdiff_free.
 */
enum { KDIFF_MAX = 2000 };
void kdiff(const char *a, const char *b, struct kdiff *d);
void kdiff_free(struct kdiff *d);
/*
 * A step through both texts, from the lines at X and Y (in the order of a unified diff): '-' and X
 * is a removed line, '+' and Y is an added one, or ' '. X and Y advance. False after their ends.
 */
bool kdiff_step(const struct kdiff *d, size_t *x, size_t *y, char *sign);

/*
 * The same as a unified diff with three lines of context, as patch(1) reads it, appended to OUT:
 * nothing when the texts are equal. A_NAME and B_NAME go into its heading.
 */
void kdiff_unified(
    const char *a, const char *b, const char *a_name, const char *b_name, struct kbuf *out);
