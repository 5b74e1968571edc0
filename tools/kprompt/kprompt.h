/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt, inside: the prompt files, the facts of a campaign that every prompt shares, and the
 * facts of one record.
 */
#pragma once

#include "kcamp.h"
#include "kio.h"
#include "ktoken.h"

/* For budgets, this many characters count as one token. */
enum { TOKEN_CHARS = 4 };
/* Of a long log, the prompt shows the beginning and the end, which matter most. */
enum { LOG_CHARS = 5000 };

/* A list of paragraphs or texts. */
struct texts {
	char **item;
	size_t count;
};

extern struct campaign {
	/* names that the templates of the stable part may use; owned */
	json_t *stable;
	json_t *instructions; /* prompts/instructions/BACKEND.json; owned */
	struct texts tips;    /* those that apply to the task and the machine */
	char *reference;      /* source of the reference, as read */
	/* sections of knowledge that apply to the campaign, in order; owned */
	json_t *notes;
	const char *device, *label; /* for result lines; of code fences; borrowed from STABLE */
} campaign;                         /* of this process; kept to the end */

/*
 * The names that templates may use, under construction: first those of the campaign, then a copy of
 * these with the names of one record.
 */
extern json_t *facts;
/* The record whose prompt it is, and its sample. */
extern const struct krec *rec;
extern const json_t *sample;
/* Takes VALUE. */
void put(const char *name, json_t *value);
/* For the marks around data: what its authors do not know, such as the sample's seed. */
extern const char *salt;

/*
 * files.c: prompt files. Each is looked for in the campaign's prompts first, then among the shipped
 * ones, and read once.
 */
void files_init(void);
/* The JSON file prompts/NAME; dies with K_MISSING when there is none. New reference. */
json_t *files_json(const char *name);
/*
 * Render template NAME (without ".txt") with CONTEXT; SECTIONS: see ktemplate.h. A fault in the
 * template dies with K_USAGE.
 */
void files_render(struct kbuf *out, const char *name, const json_t *context, json_t *sections);
/* The unrendered text of template NAME, and of all that it may include. */
void files_forms(struct kbuf *out, const char *name, const char *backend);
/* Render TEXT, which is not in a file; WHERE is for messages. The caller frees. */
char *files_fill(const char *text, const char *where, const json_t *context);

/*
 * data.c: what comes with a record, as data. New references; "" for a text without words. WHAT: see
 * kfence.h.
 */
json_t *data_text(const char *text, const char *what);
/* The same with a text that is not clean, shortened to MAX characters. */
json_t *data_part(const char *text, size_t max, const char *what);
/* VALUE with each of its texts on one line. New reference. */
json_t *data_lines(const json_t *value);
/* The template data/FORM, filled in from the lines of VALUE; its first line; or as data. */
void data_fill(struct kbuf *out, const char *form, const json_t *value);
json_t *data_line(const char *form, const json_t *value);
json_t *data_filled(const char *form, const char *what);

/* machine.c: put the contents of trials/000/machine.json, and what follows from them. */
void machine_facts(void);

/* roofline.c: put what trials/000/roofline.json says about device and workloads. */
void roofline_facts(void);

/*
 * task.c: put the contents of task.json; returns the source of the reference, which the caller
 * frees.
 */
char *task_facts(void);

/* "a, b, c" from an array of texts; other items are skipped. The caller frees. */
char *join(const json_t *list);

/*
 * families.c: put what the REFERENCE does: "family", "kinds" and "name_fits"; op and task must be
 * there already.
 */
void family_facts(const char *reference);

/* profile.c: put the list of skills, one line each. */
void skill_facts(void);
/* Put "profile", that of the parent; false when there is none. */
void profile_facts(const json_t *parent);
/*
 * A cheaper model's summary of a program's log, to be shown instead; NULL when there is none.
 * Borrowed.
 */
const char *program_digest(const json_t *program);

/* The profile in a program or in its evaluation; NULL when there is none. Borrowed. */
const json_t *program_profile(const json_t *program);

/*
 * notes.c: the sections of the note in PATH as an array of {"file", "section", "title", "text",
 * "priority", "tokens"} and, if the note has them, "ops", "archs", "backends", "dtypes" and "when",
 * lists of words that must be in WORDS, {"ops": {word: true}, …}. A fault in the note dies with
 * K_USAGE, file and line. New reference.
 */
json_t *notes_read(const char *path, const char *file, const json_t *words);

/*
 * project.c: put "project", passages from the project that the user names, and "passages", their
 * description; op, task and entry must be there already. At most BUDGET tokens; returns how many.
 */
long project_facts(long budget);

/* knowledge.c: find what applies to the campaign, and put "knowledge". */
void knowledge_open(void);
/* Put "leads", sections chosen by what PROFILE (may be NULL) and SAMPLE say about the parent. */
void lead_facts(const json_t *profile);
/*
 * Which notes, and passages of the reference project, were shown, for the record: [{"file",
 * "section", "tokens", "sha256"}]. New references.
 */
json_t *knowledge_member(void);
json_t *project_member(void);
/* One line for each section that applies to the campaign, for people. */
void knowledge_list(void);

/*
 * memory.c: put "recall" and "history", what this campaign and earlier ones remember; false:
 * nothing.
 */
void memory_facts(void);
/*
 * What was shown of these, for the record: {"versions", "masks", "compact", "tips", "library",
 * "tokens"}. New reference; NULL: nothing.
 */
json_t *memory_member(void);

/*
 * digest.c: a record with the prompt that asks a second model to summarise an evaluated record's
 * log. New reference.
 */
json_t *digest_record(void);

/*
 * linear.c: put "linear", the rules of a linear search; and "round", what the sample says about
 * earlier rounds, with LAST, the facts of the program that failed last, or NULL (taken over).
 */
void linear_rules(void);
void linear_facts(json_t *last);

/* record.c: put what one record says, with the names of the volatile part. */
void record_facts(void);
