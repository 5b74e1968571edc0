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
bool exists(const char *path);
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
	long candidates, compiled, correct; /* the reference is not counted */
	long stale;                         /* trials since the last gain */
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
/* HEADER may be NULL: nothing yet. */
struct standing standing(const struct kcamp *camp, const json_t *header);
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

/*
 * linear.c: why a linear search stops after trial LAST, as one line, or NULL (the caller frees);
 * what status and trials say of it.
 */
char *linear_stop(const struct kcamp *c, long last, const struct standing *s);
void linear_status(const struct kcamp *c, long last, const struct standing *s, struct kbuf *text);
void linear_trial(const struct kcamp *c, long trial, struct kbuf *text);
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
 * Dies when the active set is not what it was when round 1 was closed; with WRITE notes what it is,
 * the first time, and says whether this was that.
 */
bool shapes_freeze(const struct kcamp *c, bool write);
bool shapes_frozen(void);
/* Write down what later rounds are held to; dies when it cannot. */
void freeze(const char *path, const json_t *what);

/*
 * judged.c: what of the task and its programs is not what it was when round 1 was closed, a line
 * each, appended; false: nothing, or round 1 is open. And the note of what it is.
 */
bool judged_faults(const struct kcamp *c, struct kbuf *text);
void judged_freeze(const struct kcamp *c);

/*
 * confirm.c: dies with K_NO while linear.confirm asks for a person's word that is not there, or is
 * of other files than these.
 */
void confirm_require(const struct kcamp *c);

/* memory.c: the goals of pipeline.mk that keep memory, tips and library at a moment of a run. */
enum memory_moment {
	MEMORY_VIEWS,  /* as MEMORY_BEGIN, but nobody is asked for anything */
	MEMORY_BEGIN,  /* all records stand, as the facts have them */
	MEMORY_BEFORE, /* before the trial behind LAST: is it time to forget? */
	MEMORY_AFTER,  /* trial LAST is complete */
	MEMORY_END     /* the campaign is over */
};
enum { MEMORY_GOALS = 4 };
/* Fill GOALS (MEMORY_GOALS of them, freed by the caller), NULL at the end. */
void memory_goals(const struct kcamp *c, enum memory_moment moment, long last, char **goals);

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

/* run.c: what drives make. Each command returns an exit code. */

/* Process that holds the campaign's lock now, or 0. */
long lock_holder(void);
/*
 * Whether evaluations can run where eval.launcher leads; a line about that machine, or what it
 * lacks, is printed. Exit code.
 */
int preflight(const struct kcamp *c);
int command_run(const struct options *o);
int command_baseline(const struct options *o);
int command_views(const struct options *o);
int command_redo(const struct options *o);
int command_verify(const struct options *o);

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
/* One line after a trial. */
void report_trial(const struct kcamp *c, long trial, struct kbuf *text);

/* Write TEXT (whole lines) to -o or stdout, and free it. */
void emit(const struct options *o, struct kbuf *text);

#endif
