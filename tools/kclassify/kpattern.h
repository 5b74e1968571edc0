/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kpattern: which optimisation techniques a source text shows, as four coordinates of 0..3. The
 * techniques are data: tables of weighted categories of regular expressions, one table per backend,
 * see docs/descriptor.md.
 *
 * Score of a level: the total weight of its categories that match anywhere, divided by the total
 * weight of all of them; at least 0.25 if a category of weight 0.9 or more matches. A dimension's
 * coordinate is its highest level L with score >= 0.15 + 0.03 (L-1), else 0. (Arithmetic of the
 * KernelFoundry descriptor, in double precision, with sums in the order of the table.)
 */
#pragma once

#include "karch.h"

enum { KPATTERN_LEVELS = 4 };

struct kpattern_table;

/*
 * Load a table and the one that it extends (searched next to it, then among kiln's own). Dies with
 * K_USAGE when anything in it is wrong, naming file, dimension, level, category and, for a pattern,
 * the offset. Free with kpattern_free. KILN_NO_JIT in the environment keeps PCRE2 from making
 * machine code, which valgrind cannot follow.
 */
struct kpattern_table *kpattern_load(const char *path);
void kpattern_free(struct kpattern_table *t);

enum kpattern_flags {
	KPATTERN_STRIP = 1, /* match code only; categories marked "comments" see everything */
	KPATTERN_GATES = 2, /* apply the table's gates */
	KPATTERN_REQUIRE_LOWER = 4 /* a level above 1 needs a mean score of 0.045 below it */
};

struct kpattern_result {
	int coords[KARCH_DIMS];
	/* score of the chosen level; for level 0, 1 minus the highest score */
	double confidence[KARCH_DIMS];
};

/*
 * Classify LEN bytes of SRC. The result depends only on table, source and flags. If a pattern
 * exceeds its match limit on a hostile text, it counts as no match.
 *
 * TOLD (NULL: nothing) gets lines that say how the result was obtained, in this order for each
 * dimension: the score of level 3 and its matches, the same for 2 and 1, then every gate that
 * fired, with the level that it limited the dimension to. Without it only the levels that decide
 * are examined.
 */
void kpattern_classify(struct kpattern_table *t, const char *src, size_t len, int flags,
    struct kpattern_result *result, struct kbuf *told);
