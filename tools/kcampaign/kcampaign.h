/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcampaign's own parts. The working folder of the program is the campaign's (main changes to it),
 * so every path below is relative to it. The state of a campaign is its files: trials/TTT and the
 * link archive.ndjson.
 */
#ifndef KCAMPAIGN_H
#define KCAMPAIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kcamp.h"
#include "kgain.h"
#include "kutil.h"

/* What the command line gave. */
struct options {
	const char *dir;     /* -c; NULL: here */
	const char *output;  /* -o; NULL: stdout */
	long trials;         /* --trials; 0: until a stop condition holds */
	const char *from;    /* --from */
	const char *task;    /* --task */
	long retries;        /* --retries */
	double retry_s;      /* --retry-s */
	double every;        /* --every; 0: the command's own */
	long jobs;           /* --jobs; 0: as make says, else one per branch */
	bool code;           /* --code */
	bool check;          /* --check */
	bool remote;         /* --remote */
	const char *mode;    /* --mode; NULL: as the knob says */
	const char *operand; /* the one operand, or NULL */
};

/* The stages that make facts, in their order; the file of a stage is trials/TTT/BB/STAGE.ndjson. */
extern const char *const stages[];
/* Before that many trials a search that stands still has hardly begun. */
enum { MIN_TRIALS = 3 };

enum { STAGE_SAMPLE, STAGE_PROMPT, STAGE_REPLY, STAGE_EVAL, STAGES };

/* position.c: where the campaign stands. */

/* "trials/007/NAME", "trials/007/02/NAME.ndjson"; the caller frees. */
char *trial_path(long trial, const char *name);
char *cell_path(long trial, long branch, const char *stage);
/* Is there such a fact of a cell (STAGE_SAMPLE and so on)? Its record: a new reference, or NULL. */
bool has_fact(long trial, long branch, int stage);
json_t *fact_of(long trial, long branch, int stage);
/*
 * The last trial whose evaluations are all there, and those before it, whatever became of their
 * views; -1: none.
 */
long last_facts(const struct kcamp *c);
/*
 * Point archive.ndjson at TRIAL, atomically; or take it away, which says that views have to be
 * checked.
 */
void set_position(long trial);
void clear_position(void);
/*
 * The header of the archive of TRIAL (its first line). New reference; NULL when there is no such
 * archive.
 */
json_t *archive_header(long trial);
/* What an archive's header says, as far as it is used here. Text is borrowed from the header. */
struct standing {
	json_t *header;
	long candidates, compiled, correct; /* the reference is not counted */
	long stale;                         /* trials since the last gain */
	long longest_wait;                  /* most trials from one gain to the next */
	long failures;                      /* candidates in a row without code or timed out */
	double cost_usd;
	json_int_t input_tokens, output_tokens;
	const json_t *statuses; /* candidates by status; may be NULL */
	const char *best;       /* id; NULL: none is correct and faster than the reference yet */
	struct kgain_ratio speedup; /* over the reference, by the newest race that there is */
	bool provisional;
	char from[40]; /* that race: a file; empty: the score */
	double runtime_ms;
	const char *cell;
	const json_t *linear; /* the chain of a linear search; NULL: none */
};
/* HEADER, which is taken, may be NULL: nothing yet. */
struct standing standing(const struct kcamp *camp, json_t *header);
/* After trial LAST. */
struct standing standing_after(const struct kcamp *camp, long last);
void standing_free(struct standing *s);
/*
 * The scored record of ID; NULL: there is none, or it cannot be read, which the model names. New
 * reference.
 */
json_t *scored_record(const struct kcamp *c, const char *id);
/*
 * Why the campaign stops after trial LAST, as one line that names the knob, or NULL; the caller
 * frees.
 */
char *stop_reason(const struct kcamp *c, long last, const struct standing *s);
char *stop_reason_after(const struct kcamp *c, long last);

/*
 * linear.c: why a linear search stops after trial LAST, as one line, or NULL (the caller frees);
 * what status and trials say of it.
 */
char *linear_stop(const struct kcamp *c, long last, const struct standing *s);
void linear_status(const struct kcamp *c, long last, const struct standing *s, struct kbuf *text);
void linear_trial(const struct kcamp *c, long trial, const struct standing *s, struct kbuf *text);
/* Dies unless all rounds up to trial LAST are closed, and none behind the next has begun. */
void linear_closed(long last);

/* shapes.c */

int command_shapes(const struct options *o);
/* upgrade.c */
int command_upgrade(const struct options *o);
/* run.c: the lock of a run, until the end; dies with K_AGAIN when another one has it. */
void take_lock(void);
/* What is wrong with the quick set of a linear search, a line each, appended; false: nothing. */
bool shapes_faults(const struct kcamp *c, struct kbuf *text);
/*
 * judged.c: what of the task, its programs and the set of shapes is not what it was when round 1
 * was closed, a line each, appended; false: nothing, or round 1 is open.
 */
bool judged_faults(const struct kcamp *c, struct kbuf *text);
/* Note what it is, and so close round 1; false: that has been done before. */
bool judged_freeze(const struct kcamp *c);

/*
 * confirm.c: dies with K_NO while linear.confirm asks for a person's word that is not there, or is
 * of other files than these.
 */
void confirm_require(const struct kcamp *c);

/* roofline.c */

/*
 * Why the roofline ends the campaign, as one line that names the knob, or NULL; the caller frees.
 */
char *roofline_stop(const struct kcamp *c, const struct standing *s);
/* Dies when stop.efficiency asks for what the roofline of this campaign cannot tell. */
void roofline_require(const struct kcamp *c);
/* What a roofline of this campaign would lack, a line each, appended. */
struct ktask;
void roofline_lacks(const struct kcamp *c, const struct ktask *task, struct kbuf *text);

/* rules.c */

/*
 * Bring trials/.rules up to date: one file per kind of view, holding what the view depends on
 * beside records (knobs, the pattern table's digest). A file is only written when its content
 * changes, so that its time says when the rule changed.
 */
void rules_refresh(const struct kcamp *c);
/*
 * Is a rule newer than the views of TRIAL, or a view missing, or from the future, so that nothing
 * seems newer?
 */
bool rules_newer(long trial);
/*
 * Files of trial 0 and FIRST..LAST that a clock which ran ahead has left in the future: make would
 * take such a view for up to date whatever changes. Facts get the present, views the past, so that
 * they are remade.
 */
void rules_settle(long first, long last);

/* PATH holds TEXT afterwards; it is written only when it holds something else. */
void write_if_changed(const char *path, const struct kbuf *text);

/* lock.c: one run per campaign. */

/*
 * The descriptor stays open in make and the stages, so that no second run begins while a straggler
 * of a killed one is still at work. Dies with K_AGAIN when another run has it.
 */
void take_lock(void);
/* Process that holds the campaign's lock now, or 0. */
long lock_holder(void);

/* run.c: the loop. */
struct loop {
	struct kcamp *camp;
	const struct options *o;
	long last; /* the last trial whose views stand; -1: none */
	struct progress *progress;
};
/* Whom to ask for what is missing: the model for replies; the second one for digests, too. */
enum ask { ASK_NOBODY, ASK_MODEL, ASK_BOTH };
/* A campaign opened for a run, under its lock. */
struct loop *loop_begin(const struct options *o);
void loop_end(struct loop *l);
/*
 * Views of all trials from FIRST on, as far as they are not up to date. They cost nothing: no model
 * is asked for what is missing unless ASK says so, and none ever for the digest of a finished
 * trial. Exit code.
 */
int bring_views(const struct loop *l, long first, enum ask ask);
/*
 * The same, if views lag behind: when a rule has changed, or when something was begun that took the
 * position away: a redo that was interrupted may still wait for its reply.
 */
int catch_up(const struct loop *l, enum ask ask);
/* Print the report on the best kernel; and what was measured of a candidate. */
void say_best(const struct loop *l);
void say_measured(const struct loop *l, long trial, long branch);
/*
 * Whether evaluations can run where eval.launcher leads; a line about that machine, or what it
 * lacks, is printed. Exit code.
 */
int preflight(const struct options *o);
/* check.c: whether the models of campaign C can be asked from here; kllm says what is missing. */
bool model_ready(const struct kcamp *c);
int command_run(const struct options *o);
int command_baseline(const struct options *o);
int command_views(const struct options *o);

/* redo.c */

/*
 * Measure the best kernel again on the full set, unless that is done. One that is not right there
 * is the best no more, and the next is measured; the chain of a linear search is closed, and stays.
 * Exit code; K_NO: none is right.
 */
int verify_best(const struct loop *l);
int command_redo(const struct options *o);
int command_verify(const struct options *o);

/* folders.c */

/* Those of a trial, made or found. What killed stages have left in them goes: the lock is ours. */
void make_folders(long trial, long branches);
/* The files of a cell from STAGE on, and what providers keep with them. */
void remove_stages(long trial, long branch, int from);
void remove_file(const char *path);
/* The same, for keach_path; one that cannot be removed stays. */
void remove_path(const char *path, void *arg);

/* graph.c: one make of pipeline.mk. */
struct graph {
	long first, last; /* trials in it */
	const char *best; /* candidate to verify; NULL: none */
	enum ask ask;
};
/*
 * Make GOALS (space-free paths, NULL at the end). What fails is explained on stderr; the exit code
 * is that of the stage that failed, where it is one of ours.
 */
int make_graph(const struct loop *l, const struct graph *g, char *const *goals);
/* Is anything kept of the rounds besides the trials: records or a memory? */
bool keeps_anything(const struct kcamp *c);
/* Signals end make, which ends the stages; then we end as the signal ends a program. */
void catch_signals(void);
void die_if_stopped(void);
bool is_stopped(void);
/* Was make called with a flag of one LETTER? */
bool make_flag(char letter);

/* progress.c: how far a run is, from the files of its steps (kstep.h). */

enum { STEP_LOST = -1 }; /* the status of a step that did not say how it ended */

/* What became of one make: the first target that failed, and its exit status. */
struct outcome {
	int code;
	size_t failed; /* targets that failed */
	char *target;  /* owned */
	double when;
};
/* Lines on a terminal; otherwise one for each event, and one at least EVERY (0: 30) seconds. */
struct progress *progress_open(const struct kcamp *c, double every);
void progress_close(struct progress *p);
/* Where steps are to keep their files: an absolute path. */
const char *progress_folder(const struct progress *p);
bool progress_is_live(const struct progress *p);
/* A graph begins, goes on (END: is over), and has ended; the outcome's target is the caller's. */
void progress_begin(struct progress *p, const struct graph *g);
void progress_tick(struct progress *p, bool end);
struct outcome progress_end(struct progress *p, bool good);
/* Words of a stage, whole lines. */
void progress_pass(struct progress *p, const char *text, size_t len);
/* A line for each step that the run of PROCESS is at. */
void progress_report(const struct kcamp *c, long process, struct kbuf *text);

/* check.c, new.c, report.c: the other commands. */
int command_check(const struct options *o);
int command_knobs(const struct options *o);
int command_schema(const struct options *o);
int command_new(const struct options *o);
int command_next(const struct options *o);
int command_status(const struct options *o);
int command_best(const struct options *o);
int command_record(const struct options *o);

/* The report on the best kernel, as `kcampaign best` prints it. */
void report_best(const struct kcamp *c, long last, struct kbuf *text);
/* What was measured of a candidate: times, and the speed-up and score it has. */
void report_measured(const struct kcamp *c, long trial, long branch, struct kbuf *text);
/* One line after a trial. */
void report_trial(const struct kcamp *c, long trial, struct kbuf *text);

/* What is at work, what of the next trial is there, and what comes next. */
void report_now(const struct kcamp *c, struct kbuf *text);

/* watch.c */
int command_watch(const struct options *o);

/* Write TEXT (whole lines) to -o or stdout, and free it. */
void emit(const struct options *o, struct kbuf *text);

#endif
