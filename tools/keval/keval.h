/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keval: the parts of the evaluator and what they hand to each other. Infrastructure faults end the
 * program (kdie).
 */
#ifndef KEVAL_H
#define KEVAL_H

#include "karch.h"
#include "kcamp.h"
#include "kextract.h"
#include "kio.h"
#include "kplan.h"
#include "kproc.h"
#include "status.h"

/* One run of keval. */
struct keval {
	struct kcamp *camp;
	/* task.json as written; NULL when the null evaluator runs without one */
	json_t *task;
	char *task_file;
	const char *set;     /* workload set */
	bool set_given;      /* on the command line */
	const char *archive; /* file, or NULL */
	/* the same, and the files that it rests on, newest first; owned */
	char *archives[2 * KARCH_WHOLE];
	size_t archive_count;
	const char *seed; /* hex, or NULL: kharness draws one */
	/* NAME=FILE and a NULL: what --verify measures beside the candidate; else NULL */
	char **rivals;
	bool verifies;   /* --verify: beside the reference and every baseline */
	bool check_only; /* tiers up to T2 */
	bool thin;       /* records are written as parts */
	json_t *inputs;  /* files that it reads, see inputs.c */
	char *oracle;    /* what oracle_so found; NULL until first needed */
	int level;       /* sandbox level; 0 until first needed */
};

/* What one evaluation is about. */
struct subject {
	const char *name; /* "007/02", for progress and messages */
	const char *code; /* borrowed */
	const struct kextract_file *files;
	size_t file_count;
	const char *parent;      /* id, or NULL */
	const char *parent_code; /* or NULL */
	const char *incumbent;   /* id, or NULL */
	/* id of one on record with the same tokens, or NULL; owned */
	char *twin;
	bool trusted; /* the reference or a baseline */
	/*
	 * A baseline, or a program on record: not looked through, and timed in turns with the
	 * reference. FLAGS come behind the task's in its build; they may be NULL.
	 */
	bool known;
	const json_t *flags;
	/* a function of the host, where candidates are device code alone */
	bool host;
	bool again;     /* measured anew, whatever is on record */
	bool cut_off;   /* the reply ended at the token limit */
	bool too_large; /* the reply was longer than a record takes */
};

/*
 * The shared object of a program, as far as it has one: its bytes, checked, and how it was built.
 */
struct build {
	bool ok;
	char *so; /* bytes; owned; NULL unless ok */
	size_t so_len;
	char *log;      /* trimmed compiler output; owned */
	char *expanded; /* what the preprocessor made of it, or NULL; owned */
	json_t *json;   /* eval.build; owned */
};

/* A built program under evaluation. */
struct trial {
	struct keval *k;
	const struct subject *s;
	struct custom *c; /* its commands and its work folder */
	const struct build *b;
	const char *so; /* file with the bytes that were checked; it may be missing, as they may */
	struct plan *early; /* what measures it first, where that has started; see tiers.c */
};

/* scan.c: source and import rules of patterns/forbidden.json. REASONS are appended unless clean. */
void scan_source(const struct keval *k, const char *file, const char *code, json_t *reasons);
/*
 * The same rules over what the preprocessor made of it, as far as it comes from the candidate's own
 * files.
 */
void scan_expanded(const struct keval *k, const char *text, json_t *reasons);
void scan_elf(const struct keval *k, const char *so, size_t len, json_t *reasons);
/* Does the shared object define a function of this name? */
bool elf_defines(const char *so, size_t len, const char *name);

/*
 * The part of the preprocessor's TEXT that comes from the candidate's own files, in one line, but
 * for pragmas; the caller frees.
 */
char *expand_own(const char *text);

/*
 * suspect.c: does the machine code hold a system call? Where, for a message; the caller frees.
 * NULL: none.
 */
char *suspect_call(struct keval *k, const char *work, const struct build *b);

/* build.c: tier T1. */
const char *source_name(const struct keval *k);
int sandbox_level(struct keval *k);
json_t *sandbox_json(struct keval *k);
/*
 * Files of the work folder; faults of the file system end the program. work_read: NULL when there
 * is no such file.
 */
void work_put(const char *work, const char *name, const void *data, size_t len);
void work_put_sources(const struct keval *k, const struct subject *s, const char *work);
char *work_read(const char *work, const char *name, size_t max, size_t *len);
/* Both streams of a build, trimmed; the caller frees. */
char *build_log(const struct kproc_result *r);
void build_candidate(struct keval *k, const struct subject *s, const char *work, struct build *b);
void build_free(struct build *b);
/*
 * Path of the shared object of trusted code (or of an incumbent), kept in trials/000/build under a
 * hash of sources, command, compiler version and CPU, and built when it is not there. FLAGS come
 * behind the task's; may be NULL. NULL with the compiler's log in *LOG (the caller frees) when it
 * does not build.
 */
char *build_cached(struct keval *k, const struct subject *s, const json_t *flags, char **log);
/* What B built for S, into the same place. */
void build_keep(struct keval *k, const struct subject *s, const struct build *b);

/*
 * harness.c: run kharness over a shared object; its answer (new reference). Dies with kharness's
 * exit status.
 */
struct harness_run {
	const char *so;             /* file */
	const char *phase;          /* correctness, timing or both */
	bool reuse;                 /* instead: on buffers seen before, and on new ones */
	bool unchecked;             /* without the oracle */
	const char *const *against; /* NAME=FILE, NULL-terminated; may be NULL */
	const char *name;           /* of the candidate in its answer; NULL: "candidate" */
	bool all_pairs;             /* everybody is compared with everybody */
};
json_t *harness_run(struct keval *k, const struct harness_run *run);
/*
 * The same of a program that is still being built, on a device: kharness gets ready meanwhile, over
 * the file RUN->so, which must not be there yet. harness_go gives it the program's bytes and
 * returns its answer; either that or harness_cancel ends it.
 */
struct early;
struct early *harness_prepare(struct keval *k, const struct harness_run *run);
json_t *harness_go(struct early *e, const void *so, size_t len);
void harness_cancel(struct early *e);
/* All of a file without a name, which is closed, and a NUL; the caller frees. */
char *answer_take(int file, size_t *len);
/*
 * The same, timed or, if REUSE, on buffers seen before, beside AGAINST alone (or NULL). NULL when
 * the candidate failed in it, which then stands in EVAL: wrong in a timed run is wrong.
 */
json_t *harness_beside(
    struct keval *k, const char *so, const char *against, bool reuse, json_t *eval);
/*
 * kharness --lint over the task, with ORACLE its results too (NULL: its form only); its exit status
 * is ours when it refuses. With NOTES what is merely worth knowing is said, too.
 */
void harness_lint(const struct keval *k, const char *oracle, bool notes);

/*
 * Candidates are device code alone: the task names no compiler but a program of ours that drives
 * one (build.c).
 */
bool is_device_only(const struct keval *k);

/*
 * profile.c: tier T4: what a profiler says of a promising candidate, as eval.profile, or why it
 * says nothing, as eval.profile_missing; neither when the campaign does not want it. SO is NULL
 * where the campaign's own commands run it.
 */
void profile(struct keval *k, const struct subject *s, const char *so, json_t *eval);
/*
 * The same whatever EVAL, the program's evaluation, holds already (new reference); NULL with the
 * reason in *WHY, which the caller frees. The raw reports are kept in profiles/NAME.
 */
json_t *profile_anew(struct keval *k, const struct subject *s, const char *so, const json_t *eval,
    const char *name, char **why);
/*
 * tool.c: a command under construction; its words are borrowed, and a NULL stands behind the last.
 */
enum { WORDS_MAX = 255 };
struct words {
	char *at[WORDS_MAX + 1];
	size_t count;
};
/* Words up to a NULL; those of a list that ends with NULL; the texts of an array. */
void words_add(struct words *w, ...) __attribute__((sentinel));
void words_list(struct words *w, const char *const *list);
void words_json(struct words *w, const json_t *list);
/*
 * A program of the system in the sandbox; its output (the caller frees), or NULL with the reason in
 * *WHY (the caller frees).
 */
struct ksandbox_bind;
char *tool_run(struct keval *k, const char *work, const struct ksandbox_bind *binds,
    size_t bind_count, const struct words *w, double limit_s, char **why);
/*
 * The words W, and after them the calls of the program in SO (kharness --solo with OPTIONS, which
 * end with NULL) in the sandbox, watched by the program AROUND, see ksandbox.h. -1: it did not
 * start.
 */
int tool_solo(struct keval *k, const char *work, char *const *around, struct words *w,
    const char *so, const char *const *options, double limit_s, struct kproc_result *r);
/* What the tool NAME printed, as tool_run has it. Frees R. */
char *tool_output(const char *name, struct kproc_result *r, char **why);

/*
 * sanitize.c: tools that look for faults of memory, over a correct candidate: eval.sanitizers; one
 * with findings is a run_error from then on.
 */
void sanitize(struct keval *k, const struct subject *s, json_t *eval);

/*
 * evidence.c: what a run of rollbacks asks for before trial TRIAL may begin: the record evidence/1
 * (new reference).
 */
json_t *gather_evidence(struct keval *k, long trial);
/* The program that it is of: the last accepted one of the archive; the caller frees. */
char *evidence_subject(const struct keval *k);

/* tiers.c: T1 to T3 of one candidate: fills EVAL. */
void evaluate_tiers(struct keval *k, const struct subject *s, json_t *eval);
/*
 * The part of kharness's answer about one candidate (borrowed); what of the answer goes into an
 * evaluation.
 */
const json_t *harness_candidate(const json_t *answer, const char *name);
void harness_merge(json_t *eval, const json_t *answer);

/*
 * T2 and T3 on the set in use, each by the harness or by the campaign's command; and in turns with
 * the incumbent once more, by whatever timed it: the pairs (new reference), or NULL when there is
 * no incumbent, or when the candidate proves wrong in it, which then stands in EVAL.
 */
void measure(const struct trial *t, json_t *eval);
json_t *measure_again(const struct trial *t, json_t *eval);

/*
 * race.c: who a candidate is timed in turns with. Its anchor: the incumbent, else the fastest
 * baseline that was raced with the reference, else the reference. Free with free_anchor.
 */
struct anchor {
	char *against;   /* NAME=FILE.so */
	char *name, *id; /* id of an incumbent, or NULL */
};
void choose_anchor(struct keval *k, const struct subject *s, struct anchor *a);
void free_anchor(struct anchor *a);
/* eval.anchor and eval.pairs, from kharness's answer. */
void put_anchor(json_t *eval, const struct anchor *a, const json_t *answer);
/* Is the incumbent to be the anchor, where it builds? */
bool prefers_incumbent(const struct keval *k, const struct subject *s);
/* The task's baseline that beat the reference by most in trial 0, borrowed; NULL: none did. */
const json_t *fastest_baseline(struct keval *k);
/* eval.pairs and eval.baselines of --verify. */
void put_rivals(json_t *eval, const json_t *answer);
/*
 * Time the candidate once more in turns with the incumbent: the pairs (new reference), or NULL when
 * there is no incumbent, or when the candidate proves wrong in it, which then stands in EVAL.
 */
json_t *race_incumbent(struct keval *k, const struct subject *s, const char *so, json_t *eval);
/*
 * The best program of the archive raced with the reference anew: the record anchor/1 of TRIAL (new
 * reference).
 */
json_t *renew_anchor(struct keval *k, long trial);
/* Id of that program; the caller frees. */
char *anchor_subject(const struct keval *k);
/*
 * Check FILES and race those that are correct, each with each, TIMES times; a record bench/1 per
 * race goes to the output.
 */
void race_files(struct keval *k, const char *const *files, long times);
/* The same once, with programs, 16 at most: the record (new reference). */
json_t *race_programs(struct keval *k, char *const *codes, size_t count);

/* SECONDS were spent on WHAT: into eval.spent_s. And what kharness says of its own time. */
void add_spent(json_t *eval, const char *what, double seconds);
void add_harness_spent(json_t *eval, const json_t *answer);

/*
 * linear.c: the plan of a reply, checked against the history in its sample; and what EVAL says of
 * it. After timing: full validation of a borderline gain, repeats of one near the noise. The wider
 * set for a reference.
 */
void plan_read(const struct krec *rec, const char *text, size_t len, struct kplan *p);
void plan_put(json_t *eval, const struct kplan *p);
void confirm(const struct trial *t, json_t *eval);
void choose_full_set(struct keval *k);
/* Is the workload, as the task has it, in the SET? One without sets is in all. */
bool in_set(const json_t *workload, const char *set);
/* In a linear search: the level of what EVAL holds, after a check that it covers the active set. */
void note_level(const struct keval *k, json_t *eval);

/*
 * The shared object of an evaluation on record, to race against; NULL when it has no program or no
 * longer builds. The caller frees.
 */
char *incumbent_so(struct keval *k, const json_t *past);
/*
 * reuse.c: measure a would-be gain on buffers that it has seen before, too: eval.reuse,
 * reuse_against and trace.
 */
void time_reuse(struct keval *k, const struct subject *s, const char *so, json_t *eval);

/*
 * inputs.c: the files that a run reads: those of every run, of one subject (its twin is found
 * here), one on record, and any other. They are named before they are read: --inputs prints the
 * list, a line each, and no other file can be read.
 */
void inputs_of_run(struct keval *k);
void inputs_of_subject(struct keval *k, struct subject *s);
void input_past(struct keval *k, const char *id);
void input(struct keval *k, const char *path);
/* One that may be absent. */
void input_maybe(struct keval *k, const char *path);
void inputs_print(const struct keval *k);
/*
 * Its bytes, or without LEN its text, where a NUL is refused; the caller frees. NULL: an evaluation
 * that is not on record. Other lacks are fatal.
 */
char *input_read(const struct keval *k, const char *path, size_t max, size_t *len);

/*
 * preflight.c: is all there that evaluations need here? One line that says what there is; else
 * every lack is told, and the program ends with K_MISSING, or what is worse.
 */
void preflight(struct keval *k);

/* The task's name of its reference; the text of a file that the task names (the caller frees). */
const char *task_reference(const struct keval *k);
char *task_source(const struct keval *k, const char *name);
/*
 * reference.c: trial 000: the reference and every baseline; the best kernel once more, beside them.
 * New references.
 */
json_t *evaluate_reference(struct keval *k);
json_t *evaluate_best(struct keval *k, const char *id);
/* Dies when the task, with its oracle, is none to judge by. */
void lint_task(struct keval *k);
/* Path of the oracle's shared object (oracle.c, else the reference in double); borrowed. */
const char *oracle_so(struct keval *k);
/*
 * "NAME=FILE.so" of a baseline (NULL when it does not build), or without one of the reference; the
 * caller frees.
 */
char *against_known(struct keval *k, const json_t *baseline);

/* custom.c: tiers replaced by the campaign's own commands. */
struct custom;
struct custom *custom_open(struct keval *k, const struct subject *s, const char *work);
void custom_close(struct custom *c);
bool custom_has(const struct custom *c, const char *tier);
void custom_build(struct custom *c, struct build *b);
/*
 * A known program or one on record: by the campaign's command, or else from what was built before.
 */
void custom_build_known(struct custom *c, struct build *b);
void custom_correctness(struct custom *c, const struct build *b, json_t *eval);
/*
 * The rows that one run of the timing command prints (new reference); NULL: it failed, which EVAL
 * says. And the rows of several runs as one list, with their statistics (new reference).
 */
json_t *custom_time(struct custom *c, const struct build *b, json_t *eval);
json_t *custom_together(const struct custom *c, const json_t *turns);
/* eval.timing.turns: without the field, and at most. */
enum { CUSTOM_TURNS = 12, CUSTOM_TURNS_MAX = 100 };

/*
 * turns.c: the timing command over several programs in turns: the candidate with its anchor, or in
 * a verification with all there is; and once more with the incumbent (see measure_again).
 */
void turns_time(const struct trial *t, json_t *eval);
json_t *turns_again(const struct trial *t, json_t *eval);

/* Where the evaluation of ID is; NULL: it is no id. The caller frees. */
char *past_path(const struct keval *k, const char *id);
/* The eval member of it (new reference), or NULL when there is none. */
json_t *past_eval(const struct keval *k, const char *id);
/*
 * The program of an evaluation, borrowed from it: fills code and files of S. False when it has
 * none.
 */
bool subject_of_past(
    const json_t *eval, struct subject *s, struct kextract_file files[KEXTRACT_MAX_FILES]);
/* Takes over what is known of an earlier program with the same object code; notes its hash. */
bool take_object(struct keval *k, const struct subject *s, const struct build *b, json_t *eval);
/*
 * Id of a program with the same tokens (the parent, or one in the archive), or NULL; the caller
 * frees.
 */
char *subject_duplicate(const struct keval *k, const struct subject *s);

/*
 * report.c: eval.log, the text for the next prompt, from the rest of EVAL; a log that it has
 * already ends it.
 */
void report_log(const struct keval *k, const struct subject *s, json_t *eval);
/* One line of progress. */
void report_progress(const struct keval *k, const struct subject *s, const json_t *eval);

/*
 * evaluate.c: the program with its files, each behind a line with its name; the caller frees.
 */
char *subject_text(const struct subject *s);
/* Everything from code to eval member (new reference). */
json_t *evaluate(struct keval *k, const struct subject *s);
/* May the records of later candidates hold the program and its files (KIO_CODE_MAX)? */
bool subject_fits(const struct subject *s);
/* Evaluation of a candidate whose WHAT takes more than MAX bytes of a record. */
json_t *evaluate_too_large(const char *what, size_t max);
/* Evaluation of a reply without code. */
json_t *evaluate_nothing(const struct subject *s);
/*
 * Evaluation of a program that is kept, and not run, for a FAULT of that CHECK: "because of its
 * plan".
 */
json_t *evaluate_unrun(const struct keval *k, const struct subject *s, enum status status,
    const char *check, const char *because, const char *fault);
/*
 * edit.c: PROGRAM with the edits that TEXT, a reply, consists of; the caller frees. NULL without
 * any; and when one does not fit, with the reason in *FAULT (the caller frees).
 */
char *edited_program(const char *text, const char *program, char **fault);
/* A model that was shown a program may answer with the difference alone: is CODE one? */
bool is_difference(const char *code);
/*
 * tune.c: CODE with the best values of the parameters that it leaves open, by a race; the caller
 * frees. TUNED says what was tried (new reference). NULL without any; with too many, *FAULT says so
 * (the caller frees).
 */
char *tuned_program(struct keval *k, const char *code, json_t **tuned, char **fault);
/* elision.c: where a program leaves something out, as a fault; the caller frees. NULL: nowhere. */
char *elided_part(const char *code);

bool is_null(const struct keval *k);
bool is_gpu(const struct keval *k); /* the backend's kernels run on one, under kharness */
void eval_set(json_t *eval, const char *key, json_t *value);
void eval_fail(json_t *eval, enum status status, const char *check, const char *detail);
/* Rejected for REASONS, which are taken over, unless there are none. False: it is. */
bool eval_clean(json_t *eval, json_t *reasons);

#endif
