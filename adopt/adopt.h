/* SPDX-License-Identifier: Apache-2.0 */
/* The steps after observation: see docs/adopt.md. State and commands: kadopt.h. */
#pragma once

#include "kadopt.h"
#include "kscan.h"

/* steps.c */

int show_status(void);
/* go.c */

/*
 * Run the campaign until it is over, then put its winner in; do that again while the application
 * rejects winners and rounds are left. Returns the status of the last step. WINNER: a winner that
 * was rejected is allowed now, so begin with that.
 */
int go_on(bool winner);

/*
 * verdicts.c: what the application said about winners; the search and later integrations read it.
 * SHORT_CIRCUIT: below the gate, and so not tried; ALLOWED: rolled back for a difference that has
 * been allowed since.
 */
enum verdict { DEPLOYED, ROLLED_BACK, SHORT_CIRCUIT, ALLOWED };
/*
 * Add the outcome for the program with this digest. COMPARE: the --compare with which its outputs
 * would have been right; NULL: there is none.
 */
void verdicts_add(
    const char *id, const char *hex, enum verdict outcome, const char *why, const char *compare);
/* Why the program failed when it was last tried; NULL: it did not. The caller frees. */
char *verdicts_failed(const char *hex);
/* Is WHY the reason given in the last verdict? */
bool verdicts_said(const char *why);
/*
 * Record that programs whose outputs differed only in digits that --compare now allows have not
 * failed; returns whether there were any.
 */
bool verdicts_allow(void);

/* ask.c: the model. */

/* TEXT, which may be NULL, in a fence; "" if there is none. The caller frees. */
char *ask_fenced(const char *text);
/*
 * What a question says about TEXT, for which the compiler's LOG and a FAULT of the last answer, or
 * NULL, are known. New reference.
 */
json_t *ask_facts(const char *text, const char *log, const char *fault);

/* The program in an answer, unchanged; NULL: none. The caller frees. */
char *ask_program(const char *answer, bool *cut_off);
/*
 * The same if the program breaks no rule; otherwise NULL, with the reason in *FAULT. A rule that
 * BEFORE, the text that was asked about, breaks too does not count. The caller frees both.
 */
char *ask_code(const char *answer, const char *before, char **fault);

/* extract.c */

/*
 * How the project compiles the file: {"compiler","flags","include","forced"}; "forced" lists
 * headers. New reference.
 */
json_t *compile_settings(void);
/* The files that the model is shown (--context), in fences. New reference. */
json_t *context_files(void);
/*
 * The libraries that a program of the language is linked with in a task: an array. New reference.
 */
json_t *task_libraries(void);
/*
 * Build SOURCE, a file, as a shared object OBJECT in the way a task's programs are built; false:
 * the log (to be freed) says why.
 */
bool build_alone(const char *source, const char *object, char **log);
/* The same for the task's reference, which becomes TEXT. */
bool build_reference(const char *text, char **log);
/*
 * Builds it with sanitizers, as task/checked.so; returns what a shell command needs before it that
 * calls that, or "": it cannot be built.
 */
const char *build_checked(void);
int extract_kernel(void);

/* record.c: the arrays of the chosen calls, with the application's contents. */
int record(void);
/* Megabytes that the arrays of CONFIGS take. */
double recording_mb(const json_t *configs);
/* Has anything been recorded? */
bool recorded_any(void);
/*
 * Where the elements in FILE, of ITEM bytes each, differ from those that the application's call
 * left in the array; NULL: nowhere. Arrays that were not recorded count as equal, and so do
 * elements that are not the same in FILE and in OTHER, if there is such a file. The caller frees.
 */
char *recorded_differs(const char *config, const char *array, const char *dtype, size_t item,
    const char *file, const char *other);
/* The file's path; NULL: there is none. */
char *recorded_path(const char *config, const char *array, bool after);

/* task.c */
int make_task(void);
/* Replace the formulas that kadopt found by those of --flops and --bytes. */
void task_formulas(json_t *task);
/* Adds the files of --context to the campaign's instructions, after those that a person gave. */
void task_context(void);
/* Seal the files on which all later figures rest. */
void task_freeze(const json_t *task);

/*
 * count.c: formulas for the operations of a call ("flops"), by the counters in the file of --ncu,
 * and for its bytes if it reads only a part of its arrays; empty without that option. New
 * reference.
 */
json_t *task_count(const json_t *task);
/*
 * The file of --ncu or, with --count, one that ncu makes of another run of the application now
 * (observe.c); NULL: neither. The caller frees.
 */
char *counters_of(const json_t *kernels);
/*
 * compile.c: how the project compiles the kernel's file, in the form that compile_settings returns
 * later.
 */

/*
 * Write programs into adopt/shims that have the names of compilers, record how they are called, and
 * then run the real compilers.
 */
void compile_shims(void);
/*
 * How the file was compiled in COPY, according to the shims' records; NULL: they saw no compilation
 * of it. ASTRAY: the project's own file was compiled, not that in the copy. New reference.
 */
json_t *compile_seen(const char *copy, bool *astray);
/*
 * The same from the compile_commands.json of FOLDER or of a build folder in it; NULL: there is
 * none, or it does not name the file. New reference.
 */
json_t *compile_commands(const char *folder, const char *file, bool cxx);
/*
 * From now on, it also knows the compilers' calls in FILE: what make printed, when it built FOLDER.
 */
void compile_log(const char *folder, const char *file);
/*
 * The sources in FOLDER whose compilation includes FILE: for a header, and for a CUDA source that
 * is included, those that include it, directly first, then through other headers; otherwise the
 * file itself. New reference.
 */
json_t *compile_sources(const char *folder, const char *file);
/*
 * Adapt nvcc's flags to a task: its programs are compiled where no GPU is visible ("native" becomes
 * the ARCHITECTURE; NULL: unknown), do not contain a run-time library, and are looked up by name.
 * Flags of other compilers are unchanged.
 */
void compile_settle(json_t *settings, const char *architecture);

/* preflight.c */
int preflight(void);
/*
 * The first program in a shell command, after assignments; "" if it is not a plain word. The caller
 * frees.
 */
char *program_of(const char *command);

/* outputs.c */

/*
 * Where output O of adopt.json in FOLDER differs from the original's, under its comparison: byte by
 * byte, or number by number. NULL: it does not. The caller frees.
 */
char *outputs_differ(const json_t *o, const char *folder);
/* The same for the first of all outputs that differs. */
char *outputs_all_differ(const char *folder);
/*
 * The --compare with which the project's outputs would count as the same, if they differ only in
 * digits of floating-point numbers; NULL: there is none. The caller frees.
 */
char *outputs_digits(void);
/* Are all outputs already compared with that tolerance, or a larger one? */
bool outputs_allow(const char *compare);
/* Empty those that are in FOLDER: a run that leaves one empty did not write it. */
void outputs_empty(const char *folder);
/*
 * Choose a comparison for outputs without one ("auto"): floating-point numbers are compared with a
 * tolerance, because the order of sums may change. Reports the choice.
 */
void outputs_propose(void);
/* The float or double at BYTES. */
double number_at(const char *bytes, size_t size);
/* "exact", "float:1e-6", "float32:1e-6", "float64:1e-6"? */
bool outputs_compare_ok(const char *compare);

/* bundle.c: the kernel with everything from the project that it needs, in one text. */

struct source {
	char *path, *name; /* path in the project */
	char *text;
	struct kscan scan;
	bool root;  /* contains the function itself, not only what that needs */
	bool added; /* its items are among the parts */
	struct source *next;
};
struct bundle {
	struct source *first; /* the kernel's file; then the others, in the order of opening */
	json_t *top; /* paths of those that are compiled one after the other, with their headers */
	/* their items in the order in which the compiler reaches their ends */
	struct part {
		struct source *source;
		const struct kscan_item *item;
	} * parts;
	size_t count;
	char *folder;      /* the project's copy, a real path */
	const char *entry; /* the text of the unit's entry, or "" */
	struct kscan entry_scan;
	json_t *include; /* folders of headers */
	json_t *notes;   /* what a person should know, as lines */
};
/* For every item X of every source F; X->kept: it is needed. */
#define bundle_items(b, f, x) \
	for (struct source *f = (b)->first; f; f = f->next) \
		kscan_items(x, &f->scan)
/*
 * Opens FILE (in the project's copy in FOLDER) and the headers of the project that it includes,
 * which it looks for in the source's folder and in the folders of SETTINGS (from compile_settings),
 * relative to the copy or absolute.
 */
void bundle_open(struct bundle *b, const char *file, const char *folder, const json_t *settings);
/* Keep the function NAME and what it needs. False: no source of the project has it. */
bool bundle_keep(struct bundle *b, const char *name);
/*
 * Does a source that bundle_open has not opened define NAME with the same text, by this
 * ktoken_hash?
 */
bool bundle_has_elsewhere(const struct bundle *b, const char *name, const char *hash);
/* Is the place AT in a line that includes a header? */
bool bundle_in_include(const struct kscan *s, size_t at);
/* The opening of the namespace around X that is itself in DEPTH of these. */
const struct kscan_item *bundle_around(const struct kscan_item *x, size_t depth);
/* The text of everything that is kept, ready to be compiled alone; the caller frees. */
char *bundle_text(struct bundle *b);
void bundle_close(struct bundle *b);

/* rules.c: patterns/adopt.json */

/* TEXT with the matches of the rules in GROUP ("cleanup") replaced; the caller frees. */
char *rules_replace(const char *group, const char *language, const char *text);
/*
 * Search the code of TEXT (for some rules the comments, too) for what the rules in GROUP forbid:
 * their messages go to FAULTS, one per line; returns their number. "judge" stands for the rules of
 * patterns/forbidden.json, by which the judge rejects candidates, except for those about what a
 * person wrote and no macro made, which are "written". ENTRY: the kernel's name, for patterns. What
 * BEFORE, which may be NULL, also contains does not count.
 */
size_t rules_scan(const char *group, const char *language, const char *text, const char *entry,
    const char *before, struct kbuf *faults);
/* The row of languages for a file of this name; NULL: such files are not supported. Borrowed. */
const json_t *rules_language(const char *file);
/*
 * That of the adopted file; but for a header that is used in another language, the row of that
 * language's sources.
 */
const json_t *rules_row(void);
/* Is it only compiled as part of other files? Also true for files without a row. */
bool rules_is_header(const char *file);
/*
 * Words of GROUP and what they stand for, an object: names that replace others in double precision
 * ("double"), types of system headers ("numbers", "records"). Borrowed until the end.
 */
const json_t *rules_words(const char *group);

/* oracle.c: the reference in double precision. */

/*
 * TEXT with every float replaced by double; NULL with the reason in *WHY when that is not enough.
 * The caller frees both.
 */
char *oracle_swap(const char *text, char **why);
/*
 * The unchanged reference, in a wrapper that takes doubles: TASK says what to narrow and widen. The
 * caller frees.
 */
char *oracle_wrap(const char *text, const json_t *task);
