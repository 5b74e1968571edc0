/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt: a function of a real application becomes the kernel of a campaign, and the winner goes
 * back. A subcommand is a step; each takes its own options. State: the campaign's adopt.json and
 * adopt/, see docs/adopt.md.
 */
#ifndef KADOPT_H
#define KADOPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kproc.h"
#include "kutil.h"

/* integrate: the gain does not reach the gate, nothing was touched */
enum { K_GATE = 10 };

/* Commands with options of their own; each gets its name as argv[0] and returns the exit status. */
int command_adopt(int argc, char **argv);
int command_list(int argc, char **argv);
int command_observe(int argc, char **argv);
int command_configs(int argc, char **argv);
int command_integrate(int argc, char **argv);

/* state.c: what was asked (adopt.json), and where things are. */

struct adoption {
	char *dir; /* the campaign's folder, absolute */
	/* adopt.json, schema adopt/1; the texts below are borrowed from it */
	json_t *json;
	const char *project; /* absolute */
	const char *file;    /* relative to the project */
	const char *kernel, *language, *build, *run, *launcher;
	const char *suffix; /* of the task's programs */
	/* the task's entry: KERNEL itself, or the function of adopt/unit.json that calls it */
	const char *entry;
	json_t *unit;     /* adopt/unit.json; NULL before preflight */
	bool device, cxx; /* functions launch on a stream; the compiler is one for C++ */
	double timeout_s; /* of one command of the project */
};

/*
 * From answers, which are taken over; from DIR/adopt.json. Both die when an answer is missing or
 * wrong. Free with adoption_free.
 */
struct adoption *adoption_new(const char *dir, json_t *answers);
struct adoption *adoption_load(const char *dir);
/* Take adopt/unit.json as it is now. */
void adoption_read_unit(struct adoption *a);
/* The line where the compiler saw the kernel's definition; 0: not known. */
size_t adoption_line(const struct adoption *a);
void adoption_save(const struct adoption *a);
void adoption_free(struct adoption *a);
/*
 * One kadopt at a time works on a campaign: dies with K_AGAIN when another one does. Given back at
 * the end of the process.
 */
void adoption_lock(const struct adoption *a);
/* Give it back, for programs that take it; in a child, which must not hold it longer than we do. */
void adoption_unlock(void);
/* A path; one below DIR/adopt; one of the project. They are good until the end of the process. */
char *path_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *adopt_path(const struct adoption *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same of a file that the command STEP makes: dies without it. */
char *adopt_made(const struct adoption *a, const char *name, const char *step);
char *project_path(const struct adoption *a, const char *name);
/* The text of a file and the hex digest of it; NULL and false: no such file. */
char *file_text(const char *path, size_t *len);
bool file_sha256(const char *path, char hex[65]);
void make_folder_of(const char *path); /* the folders above the file PATH */
/* These die when they fail. */
void write_text(const char *path, const char *text, size_t len);
void write_json(const char *path, const json_t *value);
/*
 * The project as it stands, with its times, to FOLDER, which is removed before; build folders that
 * name it by its path stay behind.
 */
void copy_project(const struct adoption *a, const char *folder);
/* The files in the folder FROM, in place of those in TO. */
void copy_over(const char *from, const char *to);
void remove_tree(const char *path);

/* siblings.c: folders next to the project that it names by "../NAME". */

/*
 * Those that the texts of PROJECT or these COMMANDS name, and that are there: an array of names, as
 * it was when it was first asked for. Borrowed.
 */
const json_t *siblings_of(const char *project, const char *commands);
/* Put copies of them next to the project's copy in FOLDER, in place of earlier ones. */
void siblings_copy(const struct adoption *a, const char *folder);
/*
 * PATH, if it is in one of these copies, as seen from the folder above FOLDER; or NULL. Borrowed.
 */
const char *siblings_name(const char *folder, const char *path);

/* command.c: commands of the project. */

struct command_result {
	int status; /* exit status, 128 + signal, or -1: it ran out of time */
	double wall_s;
	char *log;        /* the file with all it printed */
	char *why, *said; /* unless STATUS is 0: how it ended, its last lines; owned */
};
/*
 * Run a shell COMMAND in FOLDER, under the launcher when there is one, with ENV ("NAME=VALUE", NULL
 * at the end; may be NULL) added; what it prints goes to DIR/adopt/log/NAME.log. Free with
 * command_free.
 */
void command_run(const struct adoption *a, const char *folder, const char *command,
    char *const *env, const char *name, struct command_result *r);
/* The same for commands of ours, which have sandboxes of their own. */
void command_own(const struct adoption *a, const char *folder, const char *command,
    const char *name, struct command_result *r);
void command_free(struct command_result *r);
/* What a tool of kiln prints as JSON, after "-c DIR"; dies as the tool does. New reference. */
json_t *command_json(const struct adoption *a, const char *tool, const char *what, const char *id);
/* TEXT in single quotes, for the shell. */
void command_quote(struct kbuf *b, const char *text);
/* End what an earlier, killed kadopt of this campaign left running; returns how many processes. */
size_t command_end_leftovers(const struct adoption *a);
/* Words of the launcher into WORDS (32 at most), their number; *COPY is to be freed behind them. */
size_t launcher_words(const struct adoption *a, char **words, char **copy);

/* ask.c: questions to a model. */

/*
 * Ask the campaign's model (campaign.json; before there is one, "model" of adopt.json) with the
 * texts prompts/adopt/system.txt and prompts/adopt/NAME.txt, filled in from CONTEXT. N tells
 * questions of one run apart; with recorded replies it is the branch of trial 0. Prompt and reply
 * are kept below DIR/adopt/ask; a question that was asked before in the same words is answered from
 * there. Dies with kllm's status when there is no answer. The caller frees.
 */
char *ask_model(const struct adoption *a, const char *name, int n, const json_t *context);

#endif
