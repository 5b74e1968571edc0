/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt: turns a function of a real application into the kernel of a campaign, and puts the winner
 * back. A subcommand is a step; each has its own options. State: the campaign's adopt.json and
 * adopt/, see docs/adopt.md.
 */
#pragma once

#include "kfence.h"
#include "kio.h"
#include "kjq.h"
#include "koption.h"
#include "kproc.h"
#include "kregex.h"

enum {
	/* integrate: the gain is below the gate, nothing was changed */
	K_GATE = 10,
	/* rolled back for floating-point digits alone, which a person may allow */
	K_DIGITS
};

/* Commands with options of their own; each gets its name as argv[0] and returns the exit status. */
int command_adopt(int argc, char **argv);
int command_list(int argc, char **argv);
int command_observe(int argc, char **argv);
int command_configs(int argc, char **argv);
int command_integrate(int argc, char **argv);

/*
 * steps.c: options that become answers of adopt.json, under their own names; and those that say
 * what is adopted, which a command may have.
 */
void answer_text(void *answers, const char *option, const char *text);
void answer_path(void *answers, const char *option, const char *path);
/* clang-format off */
#define ANSWER_OPTIONS(answers) \
	{ 'p', "project", .call = answer_path, .to = (answers), \
	    .help = "DIR\tthe project with the application" }, \
	KOPTION_CALL("file", answer_text, answers, \
	    "FILE\tthe source file with the kernel, relative to the project"), \
	KOPTION_CALL("kernel", answer_text, answers, "NAME\tthe function"), \
	KOPTION_CALL("build", answer_text, answers, "COMMAND\tbuild the project"), \
	KOPTION_CALL("run", answer_text, answers, "COMMAND\trun the application"), \
	KOPTION_CALL("launcher", answer_text, answers, \
	    "COMMAND\tput COMMAND before everything that runs")
/* clang-format on */

/* main.c: run the command NAME as a step, with an OPTION that has a VALUE, unless that is NULL. */
int command_step(const char *name, const char *option, const char *value);

/* state.c: the answers (adopt.json), and paths. */

extern struct adoption {
	char *dir; /* the campaign's folder, absolute */
	/* adopt.json, schema adopt/1; the texts below are borrowed from it */
	json_t *json;
	const char *project; /* absolute */
	const char *file;    /* relative to the project */
	const char *kernel, *language, *build, *run, *launcher;
	const char *suffix; /* for the task's programs */
	/* the task's entry: KERNEL itself, or the function of adopt/unit.json that calls it */
	const char *entry;
	json_t *unit;     /* adopt/unit.json; NULL before preflight */
	bool device, cxx; /* device: functions launch on a stream; cxx: the compiler is one for
                           * C++ */
	double timeout_s; /* for one command of the project */
	const char *flag; /* for the compiler, in addition to the project's own; or NULL */
} adoption;

/*
 * A part of the work, in two lines of the log: what begins, and how long it took. NAME is borrowed
 * until the end.
 */
struct work_span {
	const char *name;
	int64_t since; /* ns */
};
struct work_span work_begin(const char *name, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void work_end(struct work_span *w);
/* Does what follows as such a part of the work. */
#define work_part(...) \
	for (struct work_span span_ = work_begin(__VA_ARGS__); span_.name; work_end(&span_))

/*
 * From DIR/adopt.json, if there is one, and ANSWERS (NULL: none), which replace what it says. Dies
 * when an answer is missing or wrong. A process deals with one campaign.
 */
void adoption_open(const char *dir, const json_t *answers);
/* Read the current adopt/unit.json. */
void adoption_read_unit(void);
/* The line where a unit's definition, or one of its launches, begins; 0: unknown. */
size_t first_line(const json_t *part);
void adoption_save(void);
/* Does the campaign have a trial, at least its beginning? */
bool adoption_begun(void);
/*
 * Checks that the files on which all figures rest are unchanged. Returns K_USAGE after naming one
 * that is not.
 */
int check_frozen(void);
/*
 * Allows only one kadopt at a time per campaign: dies with K_AGAIN when another one is running.
 * Released at the end of the process.
 */
void adoption_lock(void);
/* Release it: before we start a program that takes it, and in a child that might outlive us. */
void adoption_unlock(void);
/*
 * Make a path; one in FOLDER, in DIR, in DIR/adopt, in the project. They are valid until the end of
 * the process.
 */
char *path_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *path_join(const char *folder, const char *name);
#define campaign_path(fmt, ...) path_of("%s/" fmt, adoption.dir, ##__VA_ARGS__)
#define adopt_path(fmt, ...) campaign_path("adopt/" fmt, ##__VA_ARGS__)
#define project_path(name) path_join(adoption.project, name)
/* The same for a file that the command STEP makes: dies if it does not exist. */
char *adopt_made(const char *name, const char *step);
/* PATH relative to FOLDER, "" for FOLDER itself; NULL: it is outside. Both are real paths. */
const char *path_in(const char *folder, const char *path);
/* The text of a file, NULL: no such file; and its hex digest, a text of kshown, or "". */
char *file_text(const char *path, size_t *len);
char *text_in(const char *folder, const char *name);
char *file_needed(const char *path, size_t *len); /* dies when there is no such file */
const char *file_sha256(const char *path);
void make_folder_of(const char *path); /* make the parent folders of the file PATH */
/* These die when they fail. */
void write_text(const char *path, const char *text);
void write_bytes(const char *path, const char *bytes, size_t len);
/* In an existing folder; also dies if a link leads from there to a folder outside ROOT. */
void write_inside(const char *root, const char *path, const char *text, size_t len);
void write_json(const char *path, const json_t *value);
/* The records of a file after the first, which is the *HEADER. New references. */
json_t *read_records(const char *path, json_t **header);
/* Appends ENTRY, which is taken over, to a file of records: all of it, or nothing. */
void append_record(const char *path, json_t *entry);
/*
 * Copies the project, with file times, to FOLDER, which is removed before; build folders that
 * contain the project's path are left out.
 */
void copy_project(const char *folder);
/* Removes everything that leads from COPY into ORIGINAL, unless COPY itself is a link. */
void clean_copy(const char *copy, const char *original);
/* The copy that the preflight builds, and from which everything is taken. */
char *project_copy(void);
void remove_folder(const char *path);

/* siblings.c: folders next to the project, or further up, that it refers to as "../NAME". */

/*
 * Those that exist, and to which the texts of PROJECT or these COMMANDS refer: an array of names
 * relative to the folder above the project ("common", "../common"), as the first call found them.
 * Borrowed.
 */
const json_t *siblings_of(const char *project, const char *commands);
/* The same for the adopted project and its commands. */
const json_t *siblings_named(void);
/* Where the project's copy is in FOLDER: deep enough for what it refers to. Borrowed. */
char *siblings_copy_path(const char *folder);
/* Put copies of them at the same places relative to the project's COPY, replacing earlier ones. */
void siblings_copy(const char *copy);
/*
 * If PATH is in one of these copies of the copy FOLDER: its path relative to the folder that
 * contains it; or NULL. Borrowed.
 */
const char *siblings_name(const char *folder, const char *path);

/* command.c: commands of the project. */

struct command_result {
	int status; /* exit status, 128 + signal, or -1: it ran out of time */
	double wall_s;
	char *log;        /* the file with its whole output */
	char *why, *said; /* if STATUS is not 0: how it ended, its last lines; owned */
};
/*
 * Run a shell COMMAND in FOLDER, with the launcher if there is one, adding the variables of ENV, an
 * object (NULL: none); its output goes to DIR/adopt/log/NAME.log. Free with command_free.
 */
struct command_result command_run(
    const char *folder, const char *command, const json_t *env, const char *name);
/* The same for our own commands, which have their own sandboxes. */
struct command_result command_own(const char *folder, const char *command, const char *name);
void command_free(struct command_result *r);
#define auto_result __attribute__((cleanup(command_free)))
/*
 * What the program ARGV prints, with the text IN as its input (NULL: none). If it fails, we pass on
 * its messages and die with the status FAILURE; 0: a failure does not matter. -1, for kiln's own
 * tools: die with the tool's status, and always pass on its messages. The caller frees.
 */
char *program_output_of(const char *const *argv, const char *in, int failure);
/* The same for the program with these words, and for a shell's SCRIPT with these arguments. */
#define program_output(in, failure, ...) \
	program_output_of((const char *const[]){ __VA_ARGS__, NULL }, in, failure)
#define script_output(in, failure, script, ...) \
	program_output(in, failure, "sh", "-c", script, "sh", __VA_ARGS__)
/* TEXT in single quotes, for the shell. */
void command_quote(struct kbuf *b, const char *text);
/*
 * End the processes that an earlier, killed kadopt of this campaign left running; returns their
 * number.
 */
size_t command_end_leftovers(void);
/* ask.c: questions to a model. */

/* prompts/adopt/NAME.txt of the campaign, else the shipped one, filled in; the caller frees. */
char *ask_text(const char *name, const json_t *context);
/*
 * Ask the campaign's model (campaign.json; before there is one, "model" of adopt.json) with the
 * texts prompts/adopt/system.txt and prompts/adopt/NAME.txt, filled in from CONTEXT. N
 * distinguishes questions of one run; with recorded replies it is the branch of trial 0. Prompt and
 * reply are kept in DIR/adopt/ask; a question with the same text as an earlier one is answered from
 * there. Dies with kllm's status when there is no answer. The caller frees.
 */
char *ask_model(const char *name, int n, const json_t *context);
