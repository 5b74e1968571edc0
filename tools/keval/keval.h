/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keval: the parts of the evaluator and their interfaces. Infrastructure faults end the program
 * (kdie).
 */
#pragma once

#include "backend.h"
#include "karch.h"
#include "kcamp.h"
#include "kelf.h"
#include "kextract.h"
#include "kfence.h"
#include "klaunch.h"
#include "klinear.h"
#include "klock.h"
#include "klog.h"
#include "kplace.h"
#include "kplan.h"
#include "kregex.h"
#include "ksandbox.h"
#include "kstat.h"
#include "kverdict.h"

/* The run: that of this process; kept to the end. */
extern struct keval {
	/* task.json as written; NULL when the null evaluator runs without one */
	json_t *task;
	char *task_file;
	const char *set;     /* workload set */
	bool set_given;      /* given on the command line */
	const char *archive; /* file, or NULL */
	/* the same, and the files that it builds on, newest first; owned */
	char *archives[2 * KARCH_WHOLE];
	size_t archive_count;
	const char *seed; /* hex, or NULL: kharness draws one */
	/* NAME=FILE, then NULL: what --verify measures next to the candidate; else NULL */
	char **rivals;
	bool verifies;   /* --verify: against the reference and every baseline */
	bool check_only; /* tiers up to T2 */
	bool thin;       /* records are written as parts */
	json_t *inputs;  /* files that it reads, see inputs.c */
	char *oracle;    /* result of oracle_so; NULL until first needed */
	/* members of the reference's eval, if a baseline's race has timed it; NULL; owned */
	json_t *timed;
	int level; /* sandbox level; 0 until first needed */
} keval;

/* A program that an evaluation is about. */
struct subject {
	const char *name; /* "007/02", for progress and messages */
	const char *code; /* borrowed */
	const struct kextract_file *files;
	size_t file_count;
	/* the files of a recorded program; then FILES, and such a subject is never copied */
	struct kextract_file recorded[KEXTRACT_MAX_FILES];
	const char *parent;      /* id, or NULL */
	const char *parent_code; /* or NULL */
	const char *incumbent;   /* id, or NULL */
	/* id of a recorded program with the same tokens, or NULL; owned */
	char *twin;
	bool trusted; /* the reference or a baseline */
	/*
	 * A baseline, or a recorded program: not scanned, and timed in turns with the reference.
	 * FLAGS are added after the task's in its build; may be NULL.
	 */
	bool known;
	const json_t *flags;
	/* a host function, although candidates consist of device code */
	bool host;
	bool again;     /* measure again, whatever is on record */
	bool cut_off;   /* the reply ended at the token limit */
	bool too_large; /* the reply was longer than a record allows */
};

/*
 * The program that is being evaluated, borrowed, and the member eval of its record. eval_begin: the
 * next one, or NULL for none.
 */
extern const struct subject *subject;
extern json_t *eval;
void eval_begin(const struct subject *s);

/* The shared object of a program, if it has one: its checked bytes, and how it was built. */
struct build {
	bool ok;
	char *so; /* bytes; owned; NULL unless ok */
	size_t so_len;
	char *log;      /* trimmed compiler output; owned */
	char *expanded; /* its preprocessed text, or NULL; owned */
	json_t *json;   /* eval.build; owned */
};

/* A built program under evaluation. */
struct trial {
	const struct subject *s;
	const char *work; /* its folder */
	char seed[17];    /* for the commands of the campaign */
	struct build b;
	const char *so;     /* file with the checked bytes; NULL if it or they are missing */
	struct plan *early; /* the first measurement of it, if that was started early; see
                             * tiers.c */
};

/*
 * scan.c: apply the source and import rules of patterns/forbidden.json: EVAL fails as rejected
 * unless the code is clean. FILE: of a bundle; NULL: the program.
 */
void scan_source(const char *file, const char *code);
/* The same rules, applied to the preprocessed text that comes from the candidate's own files. */
void scan_expanded(const char *text);
/* FAULT: what kelf_read said, instead of F. */
void scan_elf(const struct kelf *f, const char *fault);

/*
 * The part of the preprocessor's TEXT that comes from the candidate's own files, on one line except
 * for pragmas; the caller frees.
 */
char *expand_own(const char *text);

/*
 * suspect.c: does the machine code contain a system call? Where, for a message; the caller frees.
 * NULL: none.
 */
char *suspect_call(const char *work, const struct build *b, const struct kelf *f);

/* build.c: tier T1. */
const char *source_name(void);
int sandbox_level(void);
/*
 * Files of the work folder; faults of the file system end the program. work_read: NULL when there
 * is no such file.
 */
void work_put(const char *work, const char *name, const void *data, size_t len);
void work_put_sources(const struct subject *s, const char *work);
char *work_read(const char *work, const char *name, size_t max, size_t *len);
/*
 * Both streams of a build, trimmed, with a line about how it ended if it did not exit by itself;
 * MAX: bytes that it was allowed to print. The caller frees.
 */
char *build_log(const struct kproc_result *r, int max);
void build_candidate(struct trial *t);
void build_free(struct build *b);
/*
 * Path of the shared object of trusted code (or of an incumbent), cached in trials/000/build under
 * a hash of sources, command, compiler version and CPU, and built if missing. FLAGS are added after
 * the task's; may be NULL. NULL, with the compiler's log in *LOG (the caller frees), when it does
 * not build.
 */
char *build_cached(const struct subject *s, const json_t *flags, char **log);
/* Stores in the same place what B built for the program under evaluation. */
void build_keep(const struct build *b);

/*
 * harness.c: run kharness on a shared object; returns its answer (new reference). Dies with
 * kharness's exit status.
 */
struct harness_run {
	const char *so; /* file */
	/* correctness, timing or both; NULL: measure on buffers seen before, and on new ones */
	const char *phase;
	bool unchecked;             /* without the oracle */
	const char *const *against; /* NAME=FILE, NULL-terminated; may be NULL */
	const char *name;           /* the candidate's name in its answer; NULL: "candidate" */
	bool all_pairs;             /* every program with every other */
	bool root;                  /* the root of a chain: race for longer if it is not clear */
};
json_t *harness_run(const struct harness_run *run);
/*
 * The same for a program that is still being built, on a device: kharness gets ready meanwhile. The
 * file RUN->so must not exist yet. harness_go gives kharness the program's bytes and returns its
 * answer; either that or harness_cancel ends it.
 */
struct early;
struct early *harness_prepare(const struct harness_run *run);
json_t *harness_go(struct early *e, const void *so, size_t len);
void harness_cancel(struct early *e);
/*
 * All bytes of a file, which is closed (-1: none), and a NUL; the caller frees. NULL: it cannot be
 * read, or has more than MAX.
 */
char *file_take(int file, size_t max, size_t *len);
/*
 * The same, timed or, if REUSE, on buffers seen before, next to AGAINST only (or NULL). NULL when
 * the candidate failed in it, which is then recorded in EVAL: wrong in a timed run is wrong.
 */
json_t *harness_beside(const char *so, const char *against, bool reuse);
/*
 * kharness --lint on the task, and with ORACLE also on its results (NULL: on its form only); when
 * it refuses, we exit with its status. With NOTES it also prints what is not a fault but worth
 * knowing.
 */
void harness_lint(const char *oracle, bool notes);

/*
 * Candidates consist of device code only: instead of a compiler, the task names one of our programs
 * that drives one (build.c).
 */
bool is_device_only(void);

/*
 * profile.c: tier T4: a profiler's findings about a promising candidate, as eval.profile, or why
 * there are none, as eval.profile_missing; neither when the campaign does not want it. SO is NULL
 * if the campaign's own commands run it.
 */
void profile(const char *so);
/*
 * The same, whatever EVAL, the program's evaluation, already contains (new reference); NULL with
 * the reason in *WHY, which the caller frees. The raw reports are kept in profiles/NAME.
 */
json_t *profile_anew(const char *so, const char *name, char **why);
/* tool.c: a command under construction; its words are borrowed, and a NULL follows the last. */
enum { WORDS_MAX = 255 };
struct words {
	char *at[WORDS_MAX + 1];
	size_t count;
};
/* Add words; those of a list that ends with NULL; the texts of an array. */
#define words_add(w, ...) words_list(w, (const char *const[]){ __VA_ARGS__, NULL })
void words_list(struct words *w, const char *const *list);
void words_json(struct words *w, const json_t *list);
/*
 * Run a system program in the sandbox; returns its output (the caller frees), or NULL with the
 * reason in *WHY (the caller frees).
 */
struct ksandbox_bind;
char *tool_run(const char *work, const struct ksandbox_bind *binds, size_t bind_count,
    const struct words *w, double limit_s, char **why);
/*
 * Run the words W, followed by the calls of the program in SO (kharness --solo with OPTIONS, which
 * end with NULL), in the sandbox, watched by the program AROUND, see ksandbox.h. -1: it did not
 * start.
 */
int tool_solo(const char *work, char *const *around, struct words *w, const char *so,
    const char *const *options, double limit_s, struct kproc_result *r);
/*
 * How a program that was allowed to print MAX bytes was ended: "killed by signal 9 (Killed)",
 * "stopped after 3 s"; the caller frees. NULL: it ended by itself. ended_well: and with success?
 */
char *forced_end(const struct kproc_result *r, int max);
bool ended_well(const struct kproc_result *r);
/*
 * Takes the lock of the machine or device on which EVAL was measured, so that nobody measures
 * meanwhile.
 */
int tool_lock(void);
/* The output of the tool NAME, for tool_run. Frees R. */
char *tool_output(const char *name, struct kproc_result *r, char **why);

/*
 * sanitize.c: run tools that look for memory faults on a correct candidate: eval.sanitizers; a
 * candidate with findings becomes a run_error.
 */
void sanitize(void);

/*
 * evidence.c: what several rollbacks in a row require before trial TRIAL may begin: the record
 * evidence/1 without its time (new reference).
 */
json_t *gather_evidence(long trial);
/*
 * The program that the evidence is about: the last accepted one of the archive; the caller frees.
 */
char *evidence_subject(void);

/* tiers.c: T1 to T3 of one candidate: fills EVAL. */
void evaluate_tiers(void);
/*
 * The part of kharness's answer about the candidate (borrowed); the parts of the answer that go
 * into an evaluation.
 */
const json_t *harness_candidate(const json_t *answer);
void harness_merge(const json_t *answer);

/*
 * T2 and T3 on the set in use, each by the harness or by the campaign's command. Then timed once
 * more in turns with the incumbent, by the same means: returns the pairs (new reference), or NULL
 * when there is no incumbent, or when the candidate proves wrong, which is then recorded in EVAL.
 */
void measure(const struct trial *t);
json_t *measure_again(const struct trial *t);

/*
 * race.c: the programs that a candidate is timed in turns with. Its anchor: the incumbent, else the
 * fastest baseline that was raced with the reference, else the reference.
 */
struct anchor {
	char *against;  /* NAME=FILE.so; the caller frees */
	const char *id; /* of an incumbent, borrowed from the subject; or NULL */
};
struct anchor choose_anchor(void);
/* eval.anchor and eval.pairs, from kharness's answer. */
void put_anchor(const struct anchor *a, const json_t *answer);
/* Should the incumbent be the anchor, if it builds? */
bool prefers_incumbent(void);
/* The task's baseline that beat the reference by most in trial 0, borrowed; NULL: none did. */
const json_t *fastest_baseline(void);
/* eval.pairs and eval.baselines of --verify. */
void put_rivals(const json_t *answer);
/*
 * Time the candidate once more in turns with the incumbent: returns the pairs (new reference), or
 * NULL when there is no incumbent, or when the candidate proves wrong, which is then recorded in
 * EVAL.
 */
json_t *race_incumbent(const char *so);
/*
 * Race the best program of the archive with the reference again: the record anchor/1 of TRIAL
 * without its time (new reference).
 */
json_t *renew_anchor(long trial);
/* Id of that program; the caller frees. */
char *anchor_subject(void);
/* The header of the archive (new reference), which OPTION needs. */
json_t *archive_header(const char *option);
/*
 * Check FILES and race the correct ones with one another, TIMES times; one record bench/1 per race
 * goes to the output.
 */
void race_files(const char *const *files, long times);
/* One such race, with at most 16 programs: the record (new reference). */
json_t *race_programs(char *const *codes, size_t count);

/* Adds to eval.spent_s: SECONDS that were spent on WHAT; the times in an ANSWER of kharness. */
void add_spent(const char *what, double seconds);
void add_harness_spent(const json_t *answer);

/*
 * linear.c: the plan of a reply, checked against the history in its sample; after timing, full
 * validation of a borderline gain and repeated measurements of one near the noise; for a reference,
 * the choice of the larger set.
 */
void plan_read(const struct krec *rec, const char *text, size_t len, struct kplan *p);
void confirm(const struct trial *t);
void choose_full_set(void);
/* Is the workload, as given in the task, in the SET? One without sets is in all. */
bool in_set(const json_t *workload, const char *set);
/*
 * In a linear search: the level of the results in EVAL, after a check that they cover the active
 * set.
 */
void note_level(void);

/*
 * The shared object of a recorded evaluation, to race against; NULL when it has no program or no
 * longer builds. The caller frees.
 */
char *incumbent_so(const json_t *past);
/*
 * reuse.c: measure an apparent gain also on buffers that it has seen before: eval.reuse,
 * reuse_against and trace.
 */
void time_reuse(const char *so);

/*
 * inputs.c: the files that a run reads: those of every run, of one subject (its twin is found
 * here), a recorded one, and any other. They are named before they are read: --inputs prints the
 * list, one per line, and no other file can be read.
 */
void inputs_of_run(void);
void inputs_of_subject(struct subject *s);
void input_past(const char *id);
/* NEEDED: the run ends if it is missing; other files may be absent. */
void input(const char *path, bool needed);
void inputs_print(void);
/*
 * Its bytes or, without LEN, its text, where a NUL is refused; the caller frees. NULL: an
 * evaluation that is not on record. Other missing files are fatal.
 */
char *input_read(const char *path, size_t max, size_t *len);

/*
 * preflight.c: is everything that evaluations need available here? Prints one line with what there
 * is; otherwise ends the program as an evaluation would.
 */
void preflight(void);

/* The task's name of its reference; the text of a file that the task names (the caller frees). */
const char *task_reference(void);
char *task_source(const char *name);
/*
 * reference.c: trial 000: the reference and every baseline; and the best kernel measured again next
 * to them. New references.
 */
void evaluate_reference(void);
void evaluate_best(const char *id);
/*
 * Dies when the task, with its oracle, cannot be used to judge; with NOTES, prints what is not a
 * fault but worth knowing.
 */
void lint_task(bool notes);
/* Path of the oracle's shared object (oracle.c, else the reference in double); borrowed. */
const char *oracle_so(void);
/*
 * "NAME=FILE.so" for a baseline (NULL when it does not build), or for the reference if there is
 * none; the caller frees.
 */
char *against_known(const json_t *baseline);

/* custom.c: the trial of S, with a seed, and not yet built. */
struct trial trial_of(const struct subject *s, const char *work);
/* Tiers replaced by the campaign's own commands. */
void custom_build(struct trial *t);
/*
 * A known or recorded program: built by the campaign's command, or else taken from an earlier
 * build.
 */
void custom_build_known(struct trial *t);
void custom_correctness(const struct trial *t);
/*
 * The rows that one run of the timing command prints (new reference); NULL: it failed, as EVAL
 * says. And the rows of several runs as one list, with their statistics (new reference).
 */
json_t *custom_time(const struct trial *t);
json_t *custom_together(const json_t *turns);
/* eval.timing.turns, where a campaign does not say. */
enum { CUSTOM_TURNS = 12 };

/*
 * turns.c: run the timing command on several programs in turns: the candidate with its anchor, or
 * in a verification with all others; and once more with the incumbent (see measure_again).
 */
void turns_time(const struct trial *t);
json_t *turns_again(const struct trial *t);

/* Path of the evaluation of ID; NULL: it is not an id. The caller frees. */
const char *past_path(const char *id);
/* Its eval member (new reference), or NULL when there is none. */
json_t *past_eval(const char *id);
/*
 * The program of an evaluation, borrowed from it: sets code and files of S. False when it has none.
 */
bool subject_of_past(const json_t *past, struct subject *s);
/* Copies what is known about an earlier program with the same object code; records its hash. */
bool take_object(const struct build *b);
/*
 * Id of a program with the same tokens (the parent, or one in the archive), or NULL; the caller
 * frees.
 */
char *subject_duplicate(const struct subject *s);

/*
 * report.c: eval.log, the text for the next prompt, from the rest of EVAL; an existing log is
 * appended to it.
 */
void report_log(void);
/* One line of progress. */
void report_progress(void);

/* evaluate.c: the program with its files, each after a line with its name; the caller frees. */
char *subject_text(const struct subject *s);
/* Everything from code to the eval member (new reference). */
void evaluate(const struct subject *s);
/* Do the program and its files fit into the records of later candidates (KIO_CODE_MAX)? */
bool subject_fits(const struct subject *s);
/* Evaluation of a candidate whose WHAT takes more than MAX bytes in a record. */
void evaluate_too_large(const char *what, size_t max);
/* Evaluation of a reply without code. */
void evaluate_nothing(void);
/*
 * Evaluation of a program that is kept but not run, because of a FAULT of that CHECK: "because of
 * its plan".
 */
void evaluate_unrun(enum status status, const char *check, const char *because, const char *fault);
/*
 * edit.c: PROGRAM with the edits in TEXT, a reply; the caller frees. NULL if there are none; also
 * when one does not fit, with the reason in *FAULT (the caller frees).
 */
char *edited_program(const char *text, const char *program, char **fault);
/* A model that was shown a program may answer with only the difference: is CODE one? */
bool is_difference(const char *code);
/*
 * tune.c: CODE with the best values of its open parameters, found by a race; the caller frees.
 * TUNED lists what was tried (new reference). NULL if there are none; with too many, *FAULT says so
 * (the caller frees).
 */
char *tuned_program(const char *code, json_t **tuned, char **fault);
/* elision.c: where a program leaves something out, as a fault; the caller frees. NULL: nowhere. */
char *elided_part(const char *code);

/* Does the campaign replace a tier by a command of its own? */
bool has_commands(void);
bool is_null(void);
bool is_gpu(void); /* the backend's kernels run on a GPU, under kharness */
/* Records the candidate's failure, which is data and not an error; a later reason is added. */
void eval_fail(enum status status, const char *check, const char *detail, ...)
    __attribute__((format(printf, 3, 4)));
