/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmemory, inside. The working folder is the campaign's (main changes to it). Facts: trials/,
 * memory/masks.ndjson, memory/compact-NNN.ndjson and the tips. Views: memory/vN.json and
 * library.ndjson.
 */
#ifndef KMEMORY_H
#define KMEMORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kcamp.h"
#include "kmemo.h"
#include "ktask.h"
#include "ktrials.h"
#include "kutil.h"

/* What the command line gave. */
struct options {
	const char *dir;        /* -c; NULL: here */
	const char *output;     /* -o; NULL: stdout */
	const char *field;      /* --field */
	const char *why;        /* --why */
	const char *seed;       /* --seed */
	bool undo, due, prompt; /* --undo, --due, --prompt */
	char *const *operands;
	size_t count;
};

/* A campaign opened for its memory. */
struct memory {
	struct kcamp *camp;
	struct ktrials *trials;
	struct ktask *task;
	struct kmemo_masks masks;
	const char *statistic; /* which sample statistic is the time */
	int lock;              /* held to the end */
};

/* main.c */

/*
 * Open the campaign of the working folder; WRITES: alone, and memory/ is made. A broken log of
 * masks dies.
 */
void memory_open(struct memory *m, bool writes);
/* An exit code: K_USAGE when a trial was found damaged, which has been said, else K_OK. */
int memory_close(struct memory *m);
/* Write OBJECT as an indented file; dies when it cannot be. */
void write_json(const char *path, const json_t *object);
/* The same for text. */
void write_text(const char *path, const char *text, size_t len);
/* "v7", or K_USAGE with what is right. */
long parse_version(const char *name);

/* trial.c: what the scored records of a trial say about it. */

/*
 * The record that stands for its trial: the best win, else the best correct one, else the best.
 * NULL when the trial is not complete, or damaged.
 */
const struct kcandidate *trial_candidate(const struct memory *m, long trial);
/*
 * "performance" of a record: latency, throughput, utilisation. New reference; an empty object when
 * it was not timed.
 */
json_t *record_performance(const struct memory *m, const struct kcandidate *c);
/*
 * What the record tried: category, as the plan has it, or the step on the grid. The caller frees.
 */
char *record_category(const struct kcandidate *c);
/* Its gain in per cent over the incumbent; NAN: not measured. */
double record_gain_pct(const struct kcandidate *c);
/* One line of foreign text, cut to MAX characters, as a member; nothing when it is empty. */
void set_line(json_t *object, const char *key, const char *text, size_t max);
/*
 * A figure with six digits, which is what a view of a measurement is good for; nothing when it is
 * not finite.
 */
void set_number(json_t *object, const char *key, double value);

/* build.c: memory/vN.json. */

/* Version VERSION as the facts have it; NULL when its trial is not complete. New reference. */
json_t *build_version(const struct memory *m, long version);
/*
 * Compare the file of a version with OUGHT. Returns NULL, or what is wrong, naming file and field;
 * the caller frees. STALE (may be NULL) tells that its inputs have changed, so that it may be made
 * anew.
 */
char *version_fault(const json_t *ought, long version, bool *stale);
/*
 * Version VERSION as the facts have it, when there is a file of it; one that was changed by hand
 * dies with K_USAGE. New reference; NULL: no such version.
 */
json_t *checked_version(const struct memory *m, long version);
/* Bring all files up to date, or those of the operands. */
int command_build(const struct options *o);
int command_check(const struct options *o);

/* query.c */
int command_read(const struct options *o);
int command_summary(const struct options *o);
int command_latest(const struct options *o);
int command_list(const struct options *o);

/* masks.c */
int command_mask(const struct options *o);
int command_unmask(const struct options *o);
int command_restart(const struct options *o);
/*
 * Every digest of the log that a prompt names must be in the log. NULL, or what is wrong; the
 * caller frees.
 */
char *masks_anchored(const struct memory *m);

/* compact.c */
int command_compact(const struct options *o);

/* tips.c: tips of a (gpu, op, backend), shared by campaigns. */
int command_tips(const struct options *o);
int command_freeze(const struct options *o);
/* The folder of all tips; NULL: there is none here. The caller frees. */
char *tips_root(const struct kcamp *c);
/* "nvidia-h200": the device as a name of folders. The caller frees. */
char *tips_device(const struct kcamp *c);
/*
 * TEXT in lower case with one dash for everything that is no letter or digit; "none" for an empty
 * one.
 */
char *tips_slug(const char *text);
/*
 * The operation as a name of folders; a task whose "op" is empty is an operation of its own. The
 * caller frees.
 */
char *tips_op(const struct ktask *task);
/* Take the lock of FOLDER, which is made; closing the descriptor gives it back. */
int tips_lock(const char *folder);

/* hygiene.c: what a tip must not praise, patterns/tips.json. */

/* What is wrong with a tip of this TEXT, as text that the caller frees; NULL: nothing. */
char *hygiene_fault(const char *text, bool accepted);
/* Every example of the table does what it says; NULL, or the fault. */
char *hygiene_selftest(void);

/* library.c */
int command_library(const struct options *o);
/*
 * What has paid in the operation OP (of tips_op) on this backend, that of the same device first.
 * New reference: array of rows of the library.
 */
json_t *library_top(const struct kcamp *c, const char *root, const char *op);

#endif
