/* SPDX-License-Identifier: Apache-2.0 */
/* kdiff: what changed between two texts, line by line; always the same for the same texts. */
#pragma once

#include "kutil.h"

struct kdiff {
	/*
	 * How the first text becomes the second, in the order of a unified diff: a '-' for each
	 * line that goes, a '+' for each that comes, a ' ' for each that stays. Owned.
	 */
	char *script;
	size_t removals, additions;
};

/*
 * A shortest edit script (E. W. Myers, An O(ND) difference algorithm, 1986). Texts that differ by
 * more than KDIFF_MAX lines count as different in all lines.
 */
enum { KDIFF_MAX = 2000 };
void kdiff(const char *a, const char *b, struct kdiff *d);

/*
 * The same as a unified diff with three lines of context, as patch(1) reads it, appended to OUT:
 * nothing when the texts are equal. A_NAME and B_NAME go into its heading.
 */
void kdiff_unified(
    const char *a, const char *b, const char *a_name, const char *b_name, struct kbuf *out);
