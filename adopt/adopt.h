/* SPDX-License-Identifier: Apache-2.0 */
/* The steps behind observation: see docs/adopt.md. State and commands: kadopt.h. */
#ifndef ADOPT_H
#define ADOPT_H

#include <stdarg.h>

#include "kadopt.h"
#include "kscan.h"

/* adopt.c */

int show_status(const struct adoption *a);
/* Are the files that all figures rest on what they were? K_USAGE, after saying which is not. */
int check_frozen(const struct adoption *a);

/* go.c */

/*
 * Run the campaign until it is over and put its winner in, again while the application refuses it
 * and rounds are left; the status of what ended it.
 */
int go_on(const struct adoption *a);

/* ask.c: the model. */

/* The program in an answer, as it stands; NULL: none. The caller frees. */
char *ask_program(const struct adoption *a, const char *answer, bool *cut_off);
/*
 * The same; NULL, and the reason in FAULT, also for one that is refused. What stands in BEFORE, the
 * text that was asked about, is not held against it. The caller frees both.
 */
char *ask_code(const struct adoption *a, const char *answer, const char *before, char **fault);

/* extract.c */

/*
 * How the project compiles the file: {"compiler","flags","include","forced"}, the last of which are
 * headers. New reference.
 */
json_t *compile_settings(const struct adoption *a);
/* The files that the model is shown (--context), in fences. New reference. */
json_t *context_files(const struct adoption *a);
/*
 * The libraries that a program of the language is linked with in a task: an array. New reference.
 */
json_t *task_libraries(const struct adoption *a);
/*
 * Build SOURCE, a file, as a shared object OBJECT the way a task's programs are; false: the log (to
 * be freed) says why.
 */
bool build_alone(const struct adoption *a, const char *source, const char *object, char **log);
/*
 * "structural" (braces, prose in code) or "semantic" (names, types), by what the compiler says
 * first.
 */
const char *error_kind(const char *log);
/* Lines of TEXT around each error in LOG, and the errors. The caller frees. */
char *error_context(const char *text, const char *log);
int extract(const struct adoption *a);

/* record.c: arrays of the chosen calls, as the application had them. */
int record(const struct adoption *a);
/* Is anything of it there? */
bool recorded_any(const struct adoption *a);
/*
 * Is what FILE has, as bytes, what the application's call left in the array? WHY names the first
 * element of ITEM bytes that is not. What was not recorded is no difference.
 */
bool recorded_same(const struct adoption *a, const char *config, const char *array,
    const char *dtype, size_t item, const char *file, char *why, size_t why_len);
/* The file, as bytes; NULL: there is none. */
char *recorded_path(const struct adoption *a, const char *config, const char *array, bool after);

/* task.c */
int make_task(const struct adoption *a);
/* What a person says of the work of a call, instead of what kadopt made of it. */
void task_formulas(const struct adoption *a, json_t *task);
/* The files of --context become the campaign's instructions, after those that a person gave it. */
void task_context(const struct adoption *a);
/* Seal what all later figures rest on. */
void task_freeze(const struct adoption *a, const json_t *task);

/* compile.c: how the project compiles the kernel's file, as compile_settings gives it later. */

/*
 * Write programs into adopt/shims that note how they are called and are then the compilers whose
 * names they bear.
 */
void compile_shims(const struct adoption *a);
/*
 * How the file was compiled in COPY, by what they noted; NULL: they saw nothing of it. ASTRAY: the
 * project's own file was compiled, which is not in the copy. New reference.
 */
json_t *compile_seen(const struct adoption *a, const char *copy, bool *astray);
/*
 * The same by the compile_commands.json of FOLDER or of a build folder in it; NULL: there is none,
 * or it does not name the file. New reference.
 */
json_t *compile_commands(const char *folder, const char *file, bool cxx);
/*
 * The sources in FOLDER that are compiled for FILE: for a header, and for a source of CUDA that is
 * included, those that include it, perhaps by other headers, the direct ones first; otherwise
 * itself. New reference.
 */
json_t *compile_sources(const char *folder, const char *file);
/*
 * Flags for a task in the place of nvcc's: its programs are compiled where no GPU is to be seen
 * ("native" becomes the ARCHITECTURE; NULL: unknown), bring no run-time library of their own, and
 * are looked up by name. Other compilers' stay.
 */
void compile_settle(json_t *settings, const char *architecture);

/* preflight.c */
int preflight(const struct adoption *a);

/* outputs.c */

/*
 * Is the file NOW what WAS was, as the output O of adopt.json asks: byte by byte, or number by
 * number? WHY says where not.
 */
bool outputs_same(const json_t *o, const char *was, const char *now, char *why, size_t why_len);
/* The same of all outputs in FOLDER, which the original's are compared with. */
bool outputs_all_same(const struct adoption *a, const char *folder, char *why, size_t why_len);
/* When the outputs in FOLDER were written, for outputs_untouched after a run. New reference. */
json_t *outputs_stamps(const struct adoption *a, const char *folder);
/*
 * The first output in FOLDER that is what it was when the stamps were taken; NULL: all were
 * written. Borrowed.
 */
const char *outputs_untouched(const struct adoption *a, const char *folder, const json_t *stamps);
/*
 * How to compare the outputs of which nobody said how ("auto"): those with floating-point numbers
 * within a tolerance, as the order of sums is not the application's. Says so.
 */
void outputs_propose(const struct adoption *a);
/* "exact", "float:1e-6", "float32:1e-6", "float64:1e-6"? */
bool outputs_compare_ok(const char *compare);

/* bundle.c: the kernel with all that it needs of the project, in one text. */

struct source {
	char *path, *name; /* where it is; within the project */
	char *text;
	struct kscan scan;
	bool *kept; /* by item */
	bool root;  /* holds a function that is asked for, not only what that needs */
};
struct bundle {
	/* in the order in which the compiler sees their ends: headers before what includes them */
	struct source *sources;
	size_t count;
	struct {
		size_t source, item;
	} * order; /* items as they follow each other */
	size_t order_count;
	const char *entry; /* the text of the unit's entry, or "" */
	json_t *include;   /* folders of headers */
	json_t *notes;     /* what a person should know, lines */
};
/*
 * FILE (within the project's copy in FOLDER) and the headers of the project that it includes,
 * looked for beside it and in the folders that SETTINGS, of compile_settings, names: folders of it
 * or absolute ones.
 */
void bundle_open(
    struct bundle *b, const struct adoption *a, const char *folder, const json_t *settings);
/*
 * Keep the function NAME and what it needs. False: it is nowhere, not in the project's other
 * sources either.
 */
bool bundle_keep(struct bundle *b, const char *name);
/*
 * Does a source of the project that is not open define NAME, in the very words that have this
 * ktoken_hash?
 */
bool bundle_has_elsewhere(const struct bundle *b, const char *name, const char *hash);
/* The text of what is kept, ready to be compiled alone; the caller frees. */
char *bundle_text(struct bundle *b, const struct adoption *a);
void bundle_close(struct bundle *b);

/* rules.c: patterns/adopt.json */

/*
 * TEXT with what the rules called GROUP ("cleanup") put in place of what they match; the caller
 * frees.
 */
char *rules_replace(const char *group, const char *language, const char *text);
/*
 * Matches of the rules called GROUP in the code of TEXT (with COMMENTS where a rule says so), a
 * line each with WHAT they say; returns their number. ENTRY: the kernel's name, for patterns. Rules
 * that match BEFORE, too, are left out; it may be NULL.
 */
size_t rules_scan(const char *group, const char *language, const char *text, const char *entry,
    const char *before, struct kbuf *faults);
/* The row of languages for a file of this name; NULL: such files are not adopted. Borrowed. */
const json_t *rules_language(const char *file);
/* The same; of a header in a LANGUAGE, the row of that language's sources. */
const json_t *rules_row(const char *file, const char *language);
/* Is it compiled as part of others only? So is what has no row. */
bool rules_is_header(const char *file);
/* Names that stand for others in double precision, an object; borrowed until the end. */
const json_t *rules_double(void);

/* oracle.c: the reference in double precision. */

/*
 * Every float of TEXT a double; NULL with the reason in WHY when it does not come to that alone.
 * The caller frees.
 */
char *oracle_swap(const char *text, const char *language, char *why, size_t why_len);
/*
 * The reference as it is, in a wrapper that takes doubles: TASK says what is to be narrowed and
 * widened. The caller frees.
 */
char *oracle_wrap(const struct adoption *a, const char *text, const json_t *task);

#endif
