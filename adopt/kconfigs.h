/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kconfigs: chooses a few calls that represent all calls of a kernel in an application. Calls are
 * grouped by key (their launch geometry, or their sizes). A group whose times vary much is split
 * into fast and slow calls, but calls with the same arguments stay together: their times only
 * differ because of disturbances. The groups with the largest total time are chosen, each with its
 * median time and the arguments of its calls.
 */
#ifndef KCONFIGS_H
#define KCONFIGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KCONFIGS_KEY = 8, KCONFIGS_TOP = 5 };

/* Split a group if p95 / p25 of its times exceeds this. */
#define KCONFIGS_VARIANCE 2.5
/*
 * If the chosen groups cover less than this share of the time, they do not represent the
 * application.
 */
#define KCONFIGS_COVERAGE 0.8
/* Share of calls whose keys may differ between two lists that are matched by index. */
#define KCONFIGS_ASTRAY 0.02

/*
 * Either sizes, compared as a whole, or (LAUNCH) grid x, y, z and block x, y, z. Of these, grid x
 * and block x make the key, because some profilers and logs give no more. All keys in a list have
 * the same kind and length.
 */
struct kconfigs_key {
	bool launch;
	size_t count;
	int64_t at[KCONFIGS_KEY];
};

/* Less than, equal to, or greater than 0, by the order of keys. */
int kconfigs_compare(const struct kconfigs_key *a, const struct kconfigs_key *b);

/* A call with its time. */
struct kconfigs_call {
	struct kconfigs_key key;
	double us;
	/* instructions of all threads, bytes of device memory; NAN: not counted */
	double thread_inst, dram_bytes;
	const json_t *args; /* borrowed; NULL: unknown */
	/* operations with floating-point numbers, bytes read from device memory; NAN: not counted
	 */
	double flops, dram_read;
	/* pages of memory that it was the first to touch */
	int64_t faults;
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
	/* index of the call whose time is closest to the median; the first such call */
	size_t typical;
	double total_us, share, target_us;
	/* the arguments of its calls; empty if unknown; owned */
	json_t *scalars;
	double inst_per_thread, bytes_per_thread; /* over its launches; NAN: unknown */
};

struct kconfigs {
	struct kconfig *at;
	size_t count;
	size_t groups;             /* number of groups before the choice */
	double total_us, coverage; /* of all calls; share of it in the chosen groups */
	/* arguments were matched call by call, not only by key */
	bool aligned;
	/* number of calls whose keys differ between the lists, if the lists are equally long */
	size_t astray;
};

/*
 * Choose at most TOP groups of N >= 1 CALLS. SEEN may be empty. In a group, a scalar gets the value
 * that at least half of its calls had, else the (lower) median; if that combination never occurred,
 * the most frequent one that did. Free with kconfigs_free.
 */
void kconfigs_choose(const struct kconfigs_call *calls, size_t n, const struct kconfigs_seen *seen,
    size_t m, size_t top, double variance, struct kconfigs *out);
void kconfigs_free(struct kconfigs *c);

#endif
