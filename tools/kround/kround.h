/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kround's own parts: rounds as people read them. A round is a trial seen from outside: round 1 is
 * the reference (trial 000), round N is trial N - 1. The working folder of the program is the
 * campaign's (main changes to it), so every path below is relative to it.
 */
#ifndef KROUND_H
#define KROUND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kcamp.h"
#include "kio.h"
#include "ktask.h"
#include "ktrials.h"
#include "kutil.h"

/* One workload as one candidate did on it. */
struct shape {
	bool active; /* in the set that the candidate was judged on */
	/* "PASS", "FAIL"; "OWN": the campaign's command passed it, without a list; "ERROR": it
	 * never came to that */
	const char *check;
	double ns, sd_ns; /* 0: not timed */
	/* TFLOPS, or calls per ms where the task has no FLOP formula; 0: not timed */
	double rate;
	double gbps;        /* 0: no formula for bytes, or not timed */
	double max_rel_err; /* below 0: nobody said */
};

/* Geometric mean and best of a rate over some workloads; n 0: none. */
struct aggregate {
	double average, peak;
	size_t n;
};

/*
 * Forward and backward apart are for information; the step (a pair's sum of both) is what decides.
 */
struct aggregates {
	struct aggregate forward, backward, step;
};

struct candidate {
	const struct kcandidate *scored; /* of the model, as is what follows */
	const json_t *json;              /* its record without the prompt */
	const char *id, *status, *level;
	long trial, branch;
	const json_t *eval, *score, *decision, *plan, *audit; /* the last three may be NULL */
	const char *code;                                     /* NULL: no code in the reply */
	/* the last accepted one before it; NULL for the reference */
	const struct candidate *base;
	struct shape *shape; /* one for every workload of the task; owned */
};

struct round {
	long number, trial;
	struct candidate *list;
	size_t count;
	const struct candidate *accepted; /* what became the kernel to beat; NULL: nothing */
	char time[32];                    /* "2026-01-31T12:00:00Z" of the last fact, or empty */
	long streak; /* rounds in a row without an accepted one, this one counted */
};

struct campaign {
	struct kcamp *camp;
	struct ktrials trials;
	struct ktask *task;
	bool linear;
	const char *name, *statistic;
	char *suffix; /* of the kernel's file: ".c"; owned */
	struct round *round;
	size_t count;
};

/* load.c */

/*
 * Everything up to the last trial, or up to the first that is damaged: what comes after it was
 * compared with something unknown. Dies when there is no trial, and, when it is to WRITE, while
 * views are remade.
 */
void campaign_load(struct campaign *c, bool write);
void campaign_free(struct campaign *c);
const struct round *last_accepted(const struct campaign *c);
/* Why a candidate was accepted or not, as one line; the caller frees. */
char *verdict_line(const struct campaign *c, const struct round *r, const struct candidate *x);
/* "BASELINE", "ACCEPTED", "ACCEPTED (trade-off)" or "ROLLED BACK". */
const char *verdict_word(const struct round *r, const struct candidate *x);
/* "2026-01-31 12:00" (UTC) or "unknown". BUF holds 32 bytes. */
const char *minute(const struct round *r, char *buf);

/* The files of a candidate's program as they are kept and restored, the kernel itself first. */
struct program {
	struct source {
		char *path; /* owned */
		const char *data;
		size_t len;
		char sha256[65];
	} file[17];
	size_t count;
};
/* NAME: what to call the kernel's own file. No file of a bundle can take its place. */
void program_of(const struct candidate *x, const char *name, struct program *p);
void program_free(struct program *p);
/*
 * The kernel's own file by default: the entry point's name with the suffix of the reference; the
 * caller frees.
 */
char *kernel_name(const struct campaign *c);

/* figures.c */

void add_shapes(const struct campaign *c, struct candidate *x);
bool in_level(const struct campaign *c, const struct candidate *x, const struct ktask_workload *w);
/* Name of the set of workloads that a candidate was judged on. */
const char *set_of(const struct campaign *c, const struct candidate *x);
/* Over the workloads that X has a time for, and COMMON too unless it is NULL. */
struct aggregates aggregates_of(
    const struct campaign *c, const struct candidate *x, const struct candidate *common);
/*
 * Change of the step's rate from OLD to X in percent, as it was judged where that is recorded; NAN
 * when unknown.
 */
double change_pct(const struct campaign *c, const struct candidate *x, const struct candidate *old);
/*
 * The same for one workload (its index in the task) against the last accepted one, and against the
 * reference.
 */
double shape_change_pct(const struct campaign *c, const struct candidate *x, size_t workload);
double shape_baseline_pct(const struct campaign *c, const struct candidate *x, size_t workload);
/* "step +1.000%, fwd +1.000%, bwd —" against round 1. */
void put_vs_baseline(const struct campaign *c, const struct candidate *x, struct kbuf *out);
/* "TFLOPS" or "ms"; an average or peak in that unit, "-" when there is none. */
const char *rate_unit(const struct campaign *c);
void put_rate(const struct campaign *c, const struct aggregate *a, bool peak, struct kbuf *out);
/* The step's rate before and after, and the change: "12.5 -> 13.1 TFLOPS (+4.8%)". */
void put_result(const struct campaign *c, const struct candidate *x, struct kbuf *out);
/* Who tested it, and what of it passed. */
void put_test(const struct campaign *c, const struct candidate *x, struct kbuf *out);
/* "+1.2%", with this many decimals; "—" for NAN. */
void put_pct(double pct, int decimals, struct kbuf *out);

/* text.c: words of models and compilers in our files. */

/* One clean line of at most MAX bytes; the caller frees. */
char *one_line(const char *text, size_t max);
/* The same appended to Markdown as plain text (kmark). "(none)" for no text. */
void put_md(const char *text, size_t max, struct kbuf *out);
/* "- WHAT: TEXT", a line of a list. */
void put_item(size_t max, struct kbuf *out, const char *what, const char *text);
/*
 * Number of the first line in which two texts differ; the lines (without newline) in A and B, which
 * the caller frees.
 */
size_t first_difference(
    const char *a, size_t a_len, const char *b, size_t b_len, char **line_a, char **line_b);

/* summary.c, csv.c, logs.c, views.c: texts made of rounds. Each appends to OUT. */

void put_summary(const struct campaign *c, const struct round *r, struct kbuf *out);
void put_csv(const struct campaign *c, const struct candidate *x, struct kbuf *out);
/*
 * Is TABLE fit to stand beside FROZEN, that of round 1: the same heading, and the rows that round 1
 * has for SET? The fault as text, which the caller frees, or NULL.
 */
char *csv_fault(const char *frozen, const char *table, const char *set);
/*
 * What a round adds to each append-only log; for round 1 with the log's heading. CORRECTED: it
 * replaces an earlier entry.
 */
enum { LOG_OPTIMIZE, LOG_TREND, LOGS };
extern const char *const log_paths[LOGS];
void put_log_entry(
    const struct campaign *c, const struct round *r, int log, bool corrected, struct kbuf *out);
/* The views that change with every round. */
enum { VIEW_BEST, VIEW_DIRECTIONS, VIEW_INEFFECTIVE, VIEW_TERMINATION, VIEWS };
extern const char *const view_paths[VIEWS];
void put_view(const struct campaign *c, int view, struct kbuf *out);

/* plan.c: the files that a round has to have. */

/* Most bytes of any file read. */
#define FILE_MAX ((size_t)256 << 20)

struct planned {
	char *path;
	struct kbuf text;
	char sha256[65];
};

struct plan {
	struct planned *file;
	size_t count;
};

void plan_round(const struct campaign *c, const struct round *r, struct plan *p);
void plan_free(struct plan *p);
const struct planned *find_planned(const struct plan *p, const char *path);
/*
 * Path of a candidate's file in FOLDER of its round, where a wide search has several; the caller
 * frees.
 */
char *place(const struct campaign *c, const struct round *r, const struct candidate *x,
    const char *folder, const char *name);
/* The same in the snapshot. */
char *snapshot_path(
    const struct campaign *c, const struct round *r, const struct candidate *x, const char *name);

/*
 * records.c: those texts as files, and what proves that nobody changed them. Each command returns
 * an exit code.
 */

struct options {
	const char *dir;    /* -c; NULL: here */
	const char *output; /* -o; NULL: stdout */
	long round;         /* --round; 0: the last accepted */
	const char *from;   /* --from; NULL: whichever is whole */
	bool correct;       /* --correct */
	bool quiet;         /* no notes that would come again after every round */
};

/* Faults found, one line each; the caller frees with kbuf_free. */
struct faults {
	struct kbuf text;
	size_t count;
};
void add_fault(struct faults *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes a file, and makes the folders that it lies in; PATH has a slash. */
void put_file(const char *path, const void *data, size_t len);
/*
 * One writer at a time, or many that only look, whoever started them; closing the descriptor gives
 * it back.
 */
int records_lock(bool write);
int write_records(const struct campaign *c, const struct options *o);
void check_records(const struct campaign *c, struct faults *f, size_t *files);

/* git.c: the repository that holds the campaign, by plumbing alone. */

struct repo {
	char *top;       /* its working tree; NULL: there is none */
	const char *why; /* then: why not */
};
struct repo repo_find(void);
void repo_free(struct repo *g);
/*
 * git ARGS... (NULL at the end) with IN for stdin: its output without the last newline, which the
 * caller frees. A failure is NULL when MAY_FAIL, else it ends the program with git's words.
 */
char *git_run(const char *const *args, const void *in, size_t in_len, bool may_fail, size_t *len);
#define GIT(...) git_run((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0, false, NULL)
#define GIT_TRY(...) git_run((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0, true, NULL)
char *git_blob(const void *data, size_t len, bool write);
char *git_commit_object(const char *text, bool write);
/* TREE (NULL: empty) with the file PATH set to BLOB. */
char *git_tree_with(const char *tree, const char *path, const char *blob);

/* lineage.c */

#define LINEAGE "logs/lineage.ndjson"

int write_commits(const struct campaign *c, const struct options *o);
void check_commits(const struct campaign *c, struct faults *f, size_t *commits);
/* The bytes of a file of an accepted round as they were committed, or NULL; the caller frees. */
char *committed_file(const struct round *r, const char *name, size_t *len);

/* restore.c */
int restore_round(const struct campaign *c, const struct options *o);

#endif
