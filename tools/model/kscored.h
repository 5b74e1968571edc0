/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kscored: scored records as archives and gradients need them: a trial at a time, its branches in order whatever the
 * order of the lines, and of each record only what counts. The records themselves are not kept.
 */
#ifndef KSCORED_H
#define KSCORED_H

#include <stdbool.h>
#include <stddef.h>

#include "karch.h"
#include "kio.h"

enum kscored_tokens {
	KSCORED_INPUT, KSCORED_OUTPUT, KSCORED_REASONING, KSCORED_CACHE_READ, KSCORED_CACHE_WRITE, KSCORED_TOKENS
};
extern const char *const kscored_tokens[KSCORED_TOKENS];	/* "input_tokens" and so on */

struct kscored {
	char id[KARCH_ID];
	long trial, branch;
	enum status status;
	int cell;		/* -1: not classified */
	double score;		/* combined */
	struct kgain_ratio speedup;	/* n 0: not timed, or nothing to believe */
	double runtime_ms;	/* 0: not timed */
	bool provisional;
	bool gain, loss;	/* against the incumbent, beyond the noise */
	char verdict[KARCH_WORD];	/* of a linear search: "baseline", "accepted" or "rolled_back"; else empty */
	char tokens[17];	/* token hash; empty: none */
	/*
	 * The same program as an earlier one: marked so by the evaluation, or the same tokens as a lower branch of its
	 * trial. It has nothing to add, and a second measurement must not win by luck.
	 */
	bool duplicate;
	bool timed_out;
	char *log;		/* of a compile error; owned; else NULL */

	char strategy[KARCH_WORD];	/* sample.*: empty, -1 or 0 when absent */
	int target;
	long island;
	char incumbent[KARCH_ID];	/* the reference when absent */
	char parent[KARCH_ID];
	struct kgain_ratio parent_speedup;
	enum status parent_status;
	int parent_cell;
	double parent_score;
	long parent_tries;

	bool paid, priced;	/* has a reply; the reply has a cost */
	double cost_usd;
	long long token_count[KSCORED_TOKENS];
};

/* May the record hold a cell? */
bool kscored_enters(const struct kscored *s);
/*
 * The same as a row of an archive, a member of no island; the caller frees. The reference has
 * SEED_SCORE.
 */
struct karch_row *kscored_row(const struct kscored *s, double seed_score);
/*
 * Does it take the cell that ELITE (NULL: nobody) holds? By the rule of archives, but the
 * incumbent, with which it was timed in turns, gives way to a gain and to nothing else.
 */
bool kscored_takes(const struct kscored *s, const struct karch_row *elite,
    const struct karch_row *row);

/* Reads FILES (COUNT 0: stdin) one after the other. Zero-initialise, then set these two. */
struct kscored_in {
	char *const *files;
	size_t count;
	/* Private. */
	size_t next;
	bool open, pending;
	struct kin in;
	struct kscored ahead;
	struct kscored *list;
	size_t len, cap;
	long trial;
};
/*
 * The records of the next trial, sorted by branch, into *LIST (borrowed until the next call); how many, 0 at the end. A
 * trial that comes after a later one, two records of one branch, or a record that lacks what it must have, ends the
 * program with K_USAGE.
 */
size_t kscored_trial(struct kscored_in *in, const struct kscored **list);
void kscored_close(struct kscored_in *in);

#endif
