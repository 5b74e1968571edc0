/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcampaign's own parts. The program's working folder is the campaign's (main changes to it), so
 * every path below is relative to it. The state of a campaign is its files: trials/TTT and the link
 * archive.ndjson.
 */
#pragma once

#include "backend.h"
#include "kchain.h"
#include "kjq.h"
#include "klinear.h"
#include "kmemo.h"
#include "kproc.h"
#include "ktask.h"
#include "ktrials.h"

/* Values from the command line. */
struct options {
	const char *dir;     /* -c; NULL: here */
	const char *output;  /* -o; NULL: stdout */
	long trials;         /* --trials; 0: until a stop condition holds */
	const char *from;    /* --from */
	const char *task;    /* --task */
	long retries;        /* --retries */
	double retry_s;      /* --retry-s */
	double every;        /* --every; 0: the command's default */
	long jobs;           /* --jobs; 0: from make, else one per branch */
	bool code;           /* --code */
	bool check;          /* --check */
	bool remote;         /* --remote */
	const char *mode;    /* --mode; NULL: from the knob */
	const char *operand; /* the only operand, or NULL */
};
extern struct options given;

/* With fewer trials, a search without progress has hardly begun. */
enum { MIN_TRIALS = 3 };

/* position.c: where the campaign stands. */

/* The file of a fact, "trials/007/02/eval.ndjson", a text of kshown. */
const char *fact_path(long trial, long branch, int stage);
/* Does a cell have such a fact? Its record: a new reference, or NULL. */
bool has_fact(long trial, long branch, int stage);
json_t *fact_of(long trial, long branch, int stage);
/*
 * The last trial whose evaluations, and those of all trials before it, are complete, whatever the
 * state of their views; -1: none.
 */
long last_facts(void);
/*
 * Point archive.ndjson at TRIAL, atomically; or remove it, which means that views have to be
 * checked.
 */
void set_position(long trial);
void clear_position(void);
/*
 * The header of the archive of TRIAL (its first line). New reference; NULL when there is no such
 * archive.
 */
json_t *archive_header(long trial);
/*
 * What the header of an archive says, as far as it is needed here: of the one that was looked at
 * last. Text is borrowed from the header.
 */
extern struct standing {
	json_t *header;
	long candidates, compiled, correct; /* without the reference */
	long stale;                         /* trials since the last gain */
	long longest_wait;                  /* most trials between two gains */
	long failures;                      /* consecutive candidates without code or timed out */
	double cost_usd;
	const char *best; /* id; NULL: none is correct and faster than the reference yet */
	struct kgain_ratio speedup; /* over the reference, from the newest race */
	bool provisional;
	char from[40]; /* the file of that race; empty: the score */
	double runtime_ms;
	const json_t *linear; /* the chain of a linear search; NULL: none */
} standing;
/* Look at HEADER, whose reference is taken; it may be NULL: nothing yet. */
void look_at(json_t *header);
/* Look at that after trial LAST. */
void look_after(long last);
/*
 * The scored record of ID; NULL: there is none, or it cannot be read, which has been reported. New
 * reference.
 */
json_t *scored_record(const char *id);
/* stop.c */

/*
 * Why the campaign stops after trial LAST, as one line that names the knob, or NULL; the caller
 * frees.
 */
char *stop_reason(long last);
char *stop_reason_after(long last);

/*
 * linear.c: why a linear search stops after trial LAST, as one line, or NULL (the caller frees);
 * what status and trials print about it.
 */
char *linear_stop(long last);
void linear_status(long last);
void linear_trial(long trial);
/* Dies unless all rounds up to trial LAST are closed, and none after the next has begun. */
void linear_closed(long last);

/* shapes.c */

int command_shapes(void);
/* What is wrong with the quick set of a linear search, one line each, appended; false: nothing. */
bool shapes_faults(struct kbuf *text);

/* upgrade.c */
int command_upgrade(void);

/*
 * judged.c: what has changed since round 1 was closed in the task, its programs and the set of
 * shapes, one line each, appended; false: nothing, or round 1 is open.
 */
bool judged_faults(struct kbuf *text);
/* Record the current state, and so close round 1; false: that was done before. */
bool judged_freeze(void);

/*
 * confirm.c: dies with K_NO if linear.confirm requires a person's confirmation that is missing, or
 * was given for other files.
 */
void confirm_require(void);

/* roofline.c */

/*
 * Why the roofline ends the campaign, as one line that names the knob, or NULL; the caller frees.
 */
char *roofline_stop(void);
/* Dies when stop.efficiency needs something that this campaign's roofline does not have. */
void roofline_require(void);

/* rules.c */

/*
 * Bring trials/.rules up to date: one file per kind of view, with everything except records that
 * the view depends on (knobs, the pattern table's digest). A file is only written when its content
 * changes, so that its time tells when the rule changed.
 */
void rules_refresh(void);
/*
 * Is a rule newer than the views of TRIAL, or a view missing, or one dated in the future, so that
 * nothing seems newer?
 */
bool rules_newer(long trial);
/*
 * Files of trial 0 and FIRST..LAST with a time in the future, left by a clock that was ahead: make
 * would consider such a view up to date whatever changes. Facts get the present time, views a past
 * one, so that they are remade.
 */
void rules_settle(long first, long last);

/* lock.c: one run per campaign. */

/*
 * make and the stages keep the descriptor open, so that no second run begins while a leftover
 * process of a killed one still works. Dies with K_AGAIN when another run has it.
 */
void take_lock(void);
/* Process that holds the campaign's lock now, or 0. */
long lock_holder(void);

/* loop.c: what run, views, redo and verify share. */
/* The last trial whose views are complete; -1: none. */
extern long last_made;
/*
 * Which models may be asked for what is missing: the model for replies; the second one for digests,
 * too.
 */
enum ask { ASK_NOBODY, ASK_MODEL, ASK_BOTH };
/* The campaign is opened for a run, under its lock. */
void loop_begin(void);
/*
 * Make the views of all trials from FIRST on that are not up to date. This costs nothing: no model
 * is asked for what is missing unless ASK says so, and never for the digest of a finished trial.
 * Returns an exit code.
 */
int bring_views(long first, enum ask ask);
/*
 * The same, but only if views are out of date: when a rule has changed, or when an unfinished
 * command removed the position: an interrupted redo may still wait for its reply.
 */
int catch_up(enum ask ask);
/*
 * Makes all views of the trials FIRST..LAST; ASK says which models may be asked for missing facts.
 */
int make_views(long first, long last, enum ask ask);
/*
 * Updates what is kept at a MOMENT of a run (see pipeline.mk); a plan (make -n) does not show it.
 */
int keep(const char *moment);

/* run.c */

/*
 * Whether evaluations can run on the machine that eval.launcher reaches; prints a line about it, or
 * what is missing there. Returns an exit code.
 */
int preflight(void);
/* check.c: whether the campaign's models can be asked from here; kllm reports what is missing. */
bool model_ready(void);
int command_run(void);
int command_baseline(void);
int command_views(void);

/* redo.c */

/*
 * Measure the best kernel again on the full set, unless that was done. If it fails there, it is no
 * longer the best, and the next one is measured; the chain of a linear search is closed, and stays.
 * Returns an exit code; K_NO: no kernel passes.
 */
int verify_best(void);
int command_redo(void);
int command_verify(void);

/* folders.c */

/*
 * Make the folders of a trial unless they exist. Leftover files of killed stages are removed,
 * because we hold the lock.
 */
void make_folders(long trial, long branches);
/* Remove the files of a cell from STAGE on, and the providers' files next to them. */
void remove_stages(long trial, long branch, int from);
void remove_file(const char *path);

/* graph.c: one run of make on pipeline.mk. */
struct graph {
	long first, last; /* trials in it */
	const char *best; /* candidate to verify; NULL: none */
	enum ask ask;
};
/*
 * Make GOALS (paths without spaces, NULL at the end). Failures are explained on stderr; returns the
 * exit code of the stage that failed, if it is one of ours.
 */
int make_graph(const struct graph *g, const char *const *goals);
/* A signal first ends make, which ends the stages; then the same signal ends us. */
void catch_signals(void);
void die_if_stopped(void);
bool is_stopped(void);

/* progress.c: the progress of a run, from the file of its steps (kutil.h). */

/* Was make called with -n, so that nothing may be made? */
bool plans_only(void);

enum { STEP_LOST = -1 }; /* the status of a step that did not report how it ended */

/* The result of one run of make: the first target that failed, and its exit status. */
struct outcome {
	int code;
	size_t failed; /* targets that failed */
	char *target;  /* owned */
};
/*
 * Live lines on a terminal; otherwise one for each event, and at least one every EVERY seconds (0:
 * 30).
 */
void progress_open(void);
void progress_close(void);
/* The file of the steps: an absolute path. */
const char *progress_file(void);
bool progress_is_live(void);
/*
 * A graph begins; progresses (END: is finished); has ended. The caller owns the outcome's target.
 */
void progress_begin(const struct graph *g);
void progress_tick(bool end);
struct outcome progress_end(bool good);
/* Prints messages of a stage, whole lines. */
void progress_pass(const char *text, size_t len);
/* Adds a line to the page for each step that the run of PROCESS is working on. */
void progress_report(long process);

/* check.c, new.c, report.c: the other commands. */
int command_check(void);
int command_knobs(void);
int command_new(void);
int command_next(void);
int command_status(void);
int command_best(void);
int command_record(void);

/*
 * What kreport says about the best kernel, to the file OUTPUT, or if that is NULL to a person.
 * Returns an exit code.
 */
int report_best(const char *output);
/* Prints what was measured for a candidate: times, and its speed-up and score. */
void report_measured(long trial, long branch);
/* Prints the line after a trial. */
void report_trial(long trial);

/* What is running, which files of the next trial exist, and what comes next. */
void report_now(void);

/* watch.c */
int command_watch(void);

/* What a command shows, in whole lines; tell() adds to it. */
extern struct kbuf page;
#define tell(...) kbuf_printf(&page, __VA_ARGS__)
/* Write the page to -o or stdout. */
void emit(void);
