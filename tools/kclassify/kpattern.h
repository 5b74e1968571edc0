/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kpattern: which optimisation techniques a source text shows, as four coordinates of 0..3. The
 * techniques are data: tables of weighted categories of regular expressions, one table per backend,
 * see docs/descriptor.md.
 *
 * Score of a level: the summed weight of its categories that match anywhere, over the summed weight
 * of all of them; 0.25 at least when a category of weight 0.9 or more matches. A dimension's
 * coordinate is its highest level L with score >= 0.15 + 0.03 (L-1), else 0. (Arithmetic of the
 * KernelFoundry descriptor, in double precision, sums in the order of the table.)
 */
#ifndef KPATTERN_H
#define KPATTERN_H

#include "kutil.h"

enum { KPATTERN_DIMS = 4, KPATTERN_LEVELS = 4 };

/* "memory", "compute", "parallelism", "esimd". */
extern const char *const kpattern_dims[KPATTERN_DIMS];

struct kpattern_table;

/*
 * Load a table and the one that it extends (looked for beside it, then among kiln's own). Dies with
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
	int coords[KPATTERN_DIMS];
	/* score of the chosen level; for level 0, 1 - the highest score */
	double confidence[KPATTERN_DIMS];
};

struct kpattern_match {
	const char *category;
	double weight;
	const char *pattern;
	/* what it was matched with, which has the lines of the source, and the bytes */
	const char *text;
	size_t from, to;
};

/*
 * Told how a result came about, in this order per dimension: the matches of level 3, then that
 * level's score, the same for 2 and 1, then every gate that fired, with the level it held the
 * dimension to. Any of them may be NULL.
 */
struct kpattern_trace {
	void (*match)(void *arg, const struct kpattern_match *m);
	void (*score)(void *arg, int dim, int level, double score, double threshold);
	void (*gate)(void *arg, const char *name, int dim, int from, int to);
	void *arg;
};

/*
 * Classify LEN bytes of SRC. The result depends on table, source and flags alone. Without a trace
 * only the levels that decide are looked at. A pattern that exceeds its match limit on a hostile
 * text does not match.
 */
void kpattern_classify(struct kpattern_table *t, const char *src, size_t len, int flags,
    struct kpattern_result *result, const struct kpattern_trace *trace);

#endif
