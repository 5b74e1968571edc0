/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcandidate: a scored record as a struct. The paths inside a record are spelled here and nowhere
 * else, so code that reads a member that does not exist does not compile. The checks here serve
 * everybody: archives, gradients, reports, memory.
 */
#pragma once

#include "karch.h"
#include "kio.h"
#include "status.h"

enum kcandidate_tokens {
	KCANDIDATE_INPUT,
	KCANDIDATE_OUTPUT,
	KCANDIDATE_REASONING,
	KCANDIDATE_CACHE_READ,
	KCANDIDATE_CACHE_WRITE,
	KCANDIDATE_TOKENS
};
extern const char *const kcandidate_tokens[KCANDIDATE_TOKENS]; /* "input_tokens" and so on */

struct kcandidate {
	json_t *json; /* the whole record; owned; NULL if only the struct is kept */
	char id[KARCH_ID];
	long trial, branch;
	enum status status;   /* of the evaluation */
	enum status standing; /* in archives: the same, or quarantined by the audit */
	bool correct;
	char time[32]; /* of the last fact, "2026-01-31T12:00:00Z"; empty: unknown */

	int cell;                   /* -1: not classified */
	double score;               /* combined; NAN: none */
	struct kgain_ratio speedup; /* n 0: not timed, or not credible */
	double runtime_ms;          /* 0: not timed */
	bool provisional;
	struct kgain_ratio gained; /* over the incumbent; n 0: not compared */
	bool gain, loss;           /* against the incumbent, beyond the noise */
	/* of a round: "baseline", "accepted", "rolled_back"; or empty */
	char verdict[KARCH_WORD];
	/*
	 * A round that was accepted; in a search over cells, a gain. Never true for the reference.
	 */
	bool won;
	bool overfit;            /* the audit refused it */
	char bucket[KARCH_WORD]; /* of the audit: "K", "W1"; empty: not audited */

	char tokens[17]; /* token hash; empty: none */
	char object[17]; /* hash of the object code; empty: none */
	/*
	 * The same program as an earlier one: marked so by the evaluation, or with the same tokens
	 * as a lower branch of its trial. It adds nothing, and must not win by a lucky second
	 * measurement.
	 */
	bool duplicate;
	bool timed_out;
	char *log; /* for a compile error or a rejection; owned; else NULL */

	char strategy[KARCH_WORD]; /* sample.*: empty, -1 or 0 when absent */
	int target;
	long island;
	char incumbent[KARCH_ID]; /* the reference if absent */
	char parent[KARCH_ID];
	struct kgain_ratio parent_speedup;
	enum status parent_status;
	int parent_cell;
	double parent_score;
	long parent_tries;

	bool paid, priced; /* has a reply; the reply has a cost */
	double cost_usd;
	long long token_count[KCANDIDATE_TOKENS];
};

/*
 * Read RECORD into C, which takes a reference. Returns NULL, or what is wrong with the record as
 * text that the caller frees; then C is empty. Free with kcandidate_free.
 */
char *kcandidate_read(struct kcandidate *c, json_t *record);
/* Reads only id, trial and branch, into a C that owns nothing. NULL, or the fault. */
char *kcandidate_place(struct kcandidate *c, const json_t *record);
void kcandidate_free(struct kcandidate *c);
/* Order for qsort. */
int kcandidate_by_branch(const void *a, const void *b);

/* May the record hold a cell? */
bool kcandidate_enters(const struct kcandidate *c);
/* Score of the reference in an archive: below that of most correct candidates. */
#define KCANDIDATE_REFERENCE_SCORE 5.0
/* As a row of an archive, in no island; the caller frees. The reference has SEED_SCORE. */
struct karch_row *kcandidate_row(const struct kcandidate *c, double seed_score);
/*
 * Does it take the cell that ELITE (NULL: nobody) holds? The rule of archives applies, with two
 * exceptions: the incumbent, with which it was timed in turns, only gives way to a gain; and BEST,
 * the id of the best program, only to a gain that is also faster by that rule.
 */
bool kcandidate_takes(const struct kcandidate *c, const struct karch_row *elite,
    const struct karch_row *row, const char *best);

/*
 * Is it the best correct program of archive A so far? Only a gain replaces the best, and in a tie
 * the older one stays. A round that was kept is the best, whatever its score: levels differ, and a
 * trade-off or a tie may score less. The best takes its cell, whoever holds it.
 */
bool kcandidate_is_best(const struct kcandidate *c, const struct karch_row *row, bool linear);

/*
 * Scored records in the form that archives and gradients need: EACH gets those of one trial after
 * the other, sorted by branch whatever the order of the lines, without their JSON. Reads FILES
 * (COUNT 0: stdin) one after the other; parts that thin records lack are read from the campaign's
 * trials. A trial that comes after a later one, two records of one branch, or a record without a
 * required member ends the program with K_USAGE.
 */
void kcandidate_trials(
    char *const *files, size_t count, void (*each)(const struct kcandidate *list, size_t n));
