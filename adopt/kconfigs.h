/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kconfigs: which few calls stand for all calls of a kernel in an application. Calls are gathered
 * by key (what they were launched with, or their sizes); a key whose calls take unlike times is
 * split in fast and slow ones, but never calls with the same arguments: those were disturbed. The
 * groups that most time goes to are taken, each with the median of
 * its times and the arguments that its calls had.
 */
#ifndef KCONFIGS_H
#define KCONFIGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KCONFIGS_KEY = 8, KCONFIGS_TOP = 5 };

/* p95 / p25 of the times of one key above which it is split. */
#define KCONFIGS_VARIANCE 2.5
/* Share of the time below which the chosen groups say too little of the application. */
#define KCONFIGS_COVERAGE 0.8
/* Share of calls whose key may differ between the two lists that are matched by index. */
#define KCONFIGS_ASTRAY 0.02

/*
 * Either sizes, compared as they stand, or (LAUNCH) grid x, y, z and block x, y, z, of which grid x
 * and block x make the key: that is all that some profilers and logs tell. Keys of one list are of
 * one kind and length.
 */
struct kconfigs_key {
	bool launch;
	size_t count;
	int64_t at[KCONFIGS_KEY];
};

/* Less than, equal to, greater than 0, as keys are ordered. */
int kconfigs_compare(const struct kconfigs_key *a, const struct kconfigs_key *b);

/* A call with the time it took. */
struct kconfigs_call {
	struct kconfigs_key key;
	double us;
	/* instructions of all threads, bytes of device memory; NAN: not counted */
	double thread_inst, dram_bytes;
	const json_t *args; /* borrowed; NULL: not known */
};

/* A call with its arguments, from another run of the same command. */
struct kconfigs_seen {
	struct kconfigs_key key;
	const json_t *scalars; /* object; borrowed */
};

enum kconfigs_split { KCONFIGS_WHOLE, KCONFIGS_FAST, KCONFIGS_SLOW };

struct kconfig {
	char name[32]; /* "top1", "top2_fast" */
	enum kconfigs_split split;
	size_t *calls, count; /* indices of its calls, ascending; owned */
	/* index of the call whose time is nearest to the median, the first of such */
	size_t typical;
	double total_us, share, target_us;
	/* what its calls were given; empty when that is not known; owned */
	json_t *scalars;
	double inst_per_thread, bytes_per_thread; /* over its launches; NAN: not known */
};

struct kconfigs {
	struct kconfig *at;
	size_t count;
	size_t groups;             /* there were, before the first ones were taken */
	double total_us, coverage; /* of all calls; share of it that the chosen groups make */
	/* arguments were matched call by call, and not by key alone */
	bool aligned;
	/* calls whose keys in the two lists differ, when they are equally many */
	size_t astray;
};

/*
 * Choose at most TOP groups of N >= 1 CALLS. SEEN may be empty. In a group, a scalar gets the value
 * that half of its calls or more had, else the (lower) median; should that combination never have
 * occurred, the most frequent one that did. Free with kconfigs_free.
 */
void kconfigs_choose(const struct kconfigs_call *calls, size_t n, const struct kconfigs_seen *seen,
    size_t m, size_t top, double variance, struct kconfigs *out);
void kconfigs_free(struct kconfigs *c);

#endif
