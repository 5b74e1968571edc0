/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krecords, inside: what people read about a campaign's trials, what the campaign remembers of
 * them, and what proves both. Rounds are the user's view of trials: round 1 is the reference (trial
 * 000), round N is trial N - 1. The program's working folder is the campaign's (main changes to
 * it), so every path below is relative to it.
 *
 * Facts: trials/, the seal (kseal.h), memory/compact-NNN.ndjson, tips. Everything else is a view:
 * rounds/, logs/, memory/vN.json, commits.
 */
#pragma once

#include "kdiff.h"
#include "kfence.h"
#include "klinear.h"
#include "kmemo.h"
#include "kproc.h"
#include "kregex.h"
#include "ktask.h"
#include "ktemplate.h"
#include "ktrials.h"
#include "kverdict.h"

/* Values from the command line. */
struct options {
	const char *dir;    /* -c; NULL: here */
	const char *output; /* -o; NULL: stdout */
	const char *field, *why;
	long round; /* --round; 0: the last accepted one */
	long seed;  /* --seed; -1: the campaign's */
	bool correct, undo, due, prompt;
	char *const *operands;
	size_t count;
};
extern struct options given;

/* The results of one candidate on one workload. */
struct shape {
	bool active; /* in the set that the candidate was judged on */
	/*
	 * "PASS", "FAIL"; "OWN": the campaign's command passed it, without a list; "ERROR": it was
	 * never checked
	 */
	const char *check;
	double ns, sd_ns; /* 0: not timed */
	/* TFLOPS, or calls per ms if the task has no FLOP formula; 0: not timed */
	double rate;
	double gbps; /* 0: no formula for bytes, or not timed */
	/*
	 * largest errors: absolute, relative to the tolerance, relative to the value; below 0:
	 * unknown
	 */
	double max_abs_err, max_err_share, max_rel_err;
};

/* Geometric mean and best of a rate over some workloads; n 0: none. */
struct aggregate {
	double average, peak;
	size_t n;
};

/* The step (both passes of a pair together) decides; its passes are for information. */
struct aggregates {
	struct aggregate forward, backward, step;
};

struct candidate {
	const json_t *json; /* its record (KJOIN_PARENT); owned by the model, like the following */
	const char *id, *status, *level;
	const json_t *eval, *score, *decision, *plan, *audit; /* the last three may be NULL */
	const char *code;                                     /* NULL: the reply has no code */
	/* the last accepted candidate before it; NULL for the reference */
	const struct candidate *base;
	struct shape *shape; /* one for each workload of the task; owned */
};

struct round {
	long number, trial;
	struct candidate *list;
	size_t count;
	const struct candidate *accepted; /* the new kernel to beat; NULL: none */
	char time[32];                    /* "2026-01-31T12:00:00Z" of the last fact, or empty */
	long streak;   /* consecutive rounds without an accepted one, including this one */
	long drafts;   /* so far, see klinear.h */
	json_t *facts; /* from round_facts, once computed */
};

struct campaign {
	struct ktask *task;
	struct kseal seal;   /* all of its lines */
	json_t *commits;     /* by candidate, as it was opened */
	struct round *round; /* of rounds_load */
	size_t count;
	int lock; /* held until the end */
};
/* The only one: that in the working folder. */
extern struct campaign campaign;

/* load.c */

/*
 * Open the campaign in the working folder, ALONE (exclusively) if something will be written. It
 * stays open to the end, unless it is closed to open another one.
 */
void campaign_open(bool alone);
void campaign_close(void);
/* Exit code: K_USAGE when a damaged trial was found, which has been reported, else K_OK. */
int campaign_damage(void);
/*
 * Load its rounds up to the last trial, or up to the first damaged one: later ones were compared
 * with something unknown. Dies when there is no trial and, with WRITE, while views are being
 * remade.
 */
void rounds_load(bool write);
struct round *last_accepted(void);
/* "BASELINE", "ACCEPTED", "ACCEPTED (trade-off)" or "ROLLED BACK". */
const char *verdict_word(const struct round *r, const struct candidate *x);
/* OBJECT as the text of an indented file; the caller frees. */
char *json_text(const json_t *object);
/* Write a file unless it is right already, making its folders if needed. */
void put_file(const char *path, const void *data, size_t len);
/* The same by WRITE: kwrite_if_changed or kwrite_unsynced. */
void put_by(void (*write)(const char *path, const void *data, size_t len), const char *path,
    const void *data, size_t len);
/*
 * Any value on one line, without a newline, as text that the caller frees; or with it, appended to
 * OUT.
 */
char *json_line(const json_t *value);
void put_json(struct kbuf *out, const json_t *line);
/*
 * The candidate that represents its trial: the best win, else the best correct one, else the best.
 * NULL when the trial is incomplete or damaged. Only the previous trial stays loaded.
 */
const struct kcandidate *trial_candidate(long trial);

/* program.c */

/*
 * The files of a candidate's program in the form in which they are kept and restored, the kernel
 * itself first.
 */
struct program {
	struct source {
		char *path; /* owned */
		const char *text;
	} file[17];
	size_t count;
};
/* NAME: the name for the kernel's own file. No file of a bundle can replace it. */
void program_of(const struct candidate *x, const char *name, struct program *p);
void program_free(struct program *p);
/* The entry point's name with the suffix of the reference, a text of kshown. */
const char *kernel_name(void);

/* figures.c */

void add_shapes(struct candidate *x);
/* Name of the set of workloads that a candidate was judged on. */
const char *set_of(const struct candidate *x);
/* A workload that a correct candidate must have a time for and has not; NULL: none. */
const char *untimed_shape(const struct candidate *x);
/* Over the workloads for which X has a time, and COMMON too unless it is NULL. */
struct aggregates aggregates_of(const struct candidate *x, const struct candidate *common);
/*
 * Change of the step's rate from the last accepted candidate to X in percent, as judged if that is
 * recorded; NAN when unknown.
 */
double gain_pct(const struct candidate *x);
/*
 * The same for one workload (its index in the task), compared with the last accepted candidate; and
 * with the reference.
 */
double shape_change_pct(const struct candidate *x, size_t workload);
double shape_baseline_pct(const struct candidate *x, size_t workload);
/* These return texts of kshown. */
/* "step +1.000%, fwd +1.000%, bwd —", compared with round 1. */
const char *vs_baseline(const struct candidate *x);
/* "TFLOPS" or "ms"; the RATE of A in that unit, "-" when there is none. */
const char *rate_unit(void);
const char *rate_text(const struct aggregate *a, double rate);
/* The step's rate before and after, and the change: "12.5 -> 13.1 TFLOPS (+4.8%)". */
const char *result_text(const struct candidate *x);
/*
 * Times as measured: in ms, or in the unit of the campaign's own metric. Operations and bytes per
 * second are known if the task counts them and a time is measured.
 */
double shown_time(double ns);
double shown_sd(const struct shape *s);
bool counts_flops(void);
bool counts_bytes(void);
/* Who tested it, and how much passed. */
const char *test_text(const struct candidate *x);
/* "+1.2%", with this many decimals; "—" for NAN. */
const char *pct_text(double pct, int decimals);

/* facts.c: the values that fill the pages, templates in pages/records. */

/* Append page NAME, filled in with FACTS, whose reference is taken. */
void put_page(const char *name, json_t *facts, struct kbuf *out);
/* Everything that a page can say about a round. New reference. */
json_t *round_facts(struct round *r);
/* For the views that change with every round. */
json_t *best_facts(void);
json_t *directions_facts(void);
json_t *ineffective_facts(void);
json_t *termination_facts(void);

/* pages.c: the files that a round must have. */

/* Size limit of any file that is read. */
#define FILE_MAX ((size_t)256 << 20)

struct planned {
	char *path;
	struct kbuf text; /* of a fact: none */
	char sha256[65];
};

struct plan {
	struct planned *file;
	size_t count;
	bool stale; /* the round is closed, and not edited since, but its facts have changed */
};

/* The facts come first: where they differ, they explain the other differences. */
void plan_round(struct round *r, struct plan *p);
const struct planned *find_planned(const struct plan *p, const char *path);
/* The logs, which only grow, and what a round adds to each; CORRECTED: after an earlier entry. */
enum { LOGS = 2 };
extern const char *const log_paths[LOGS];
void put_log_entry(struct round *r, int log, bool corrected, struct kbuf *out);
/* The views that change with every round. */
enum { VIEW_TERMINATION, VIEWS = 4 };
extern const char *const view_paths[VIEWS];
void put_view(int view, struct kbuf *out);

/* close.c: writes those texts as files, seals them, and reports files that differ from them. */
int close_rounds(void);
void check_rounds(struct kfaults *f, size_t *files);

/* lineage.c: a commit for each accepted round. */
int write_commits(void);
/* Those on the last branch, by candidate. New reference. */
json_t *commits_of(void);
void check_commits(struct kfaults *f, size_t *commits);

/* memory.c: memory/vN.json. */

/*
 * Version VERSION, computed from the facts, if its file exists; if that was changed by hand, dies
 * with K_USAGE. New reference; NULL: no such version.
 */
json_t *checked_version(long version);
/* Add version VERSION, computed from the facts, to FILES, which maps paths to texts. */
void add_version(long version, json_t *files);
/* Seal FILES, with EVENT unless it is NULL, and write them. Takes both references. */
void write_versions(json_t *event, json_t *files);
void check_memory(struct kfaults *f, size_t *files);
/*
 * What the candidate of a record tried: its plan's category, or the step on the grid. The caller
 * frees.
 */
char *record_category(const struct kcandidate *c);
/* Its gain over the incumbent in per cent; NAN: not measured. */
double record_gain_pct(const struct kcandidate *c);
/* With six digits; NULL if it is not finite. New reference. */
json_t *number_json(double value);
/* "v7"; anything else dies with K_USAGE and a message that shows the right form. */
long parse_version(const char *name);

/* Commands; each returns an exit code. */
int command_remember(void);
int command_read(void);
int command_summary(void);
int command_latest(void);
int command_list(void);
int command_mask(void);
int command_note(void);
int command_unmask(void);
int command_restart(void);
int command_compact(void);
int command_tips(void);
int command_freeze(void);
int command_library(void);

/* masks.c: every mask that a prompt names must be in the seal. */
void check_masks(struct kfaults *f);

/* tips.c: tips for a (gpu, op, backend), shared by campaigns. */

/* The folder of all tips; NULL: there is none here. A text of kshown. */
const char *tips_root(void);
/* The same; dies when there is none. */
const char *tips_root_or_die(void);
/* "nvidia-h200": the device in the form of a folder name. A text of kshown. */
const char *tips_device(void);
/*
 * TEXT in lower case, with one dash for every run of characters that are not letters or digits;
 * "none" if empty. A text of kshown.
 */
const char *tips_slug(const char *text);
/*
 * The operation in the form of a folder name; a task whose "op" is empty counts as an operation of
 * its own. A text of kshown.
 */
const char *tips_op(void);
/* Take the lock of FOLDER, which is made if needed; closing the descriptor releases it. */
int tips_lock(const char *folder);
/* Reports what prompts will contain that is not part of the campaign. */
void tips_tell(const char *what, size_t count, const char *from);
/*
 * Writes the current tips as the campaign will see them until its end, without those that break a
 * rule.
 */
void freeze_tips(void);
