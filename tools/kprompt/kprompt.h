/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt, inside: the prompt files, the facts of a campaign that every prompt shares, and the
 * facts of one record.
 */
#ifndef KPROMPT_H
#define KPROMPT_H

#include "kcamp.h"
#include "kio.h"
#include "ktoken.h"

/* Characters that count as one token where a budget is kept. */
enum { TOKEN_CHARS = 4 };
/* Of a log, which goes on and on: its beginning and its end, where what matters stands. */
enum { LOG_CHARS = 5000 };

/* A list of paragraphs or texts. */
struct texts {
	char **item;
	size_t count;
};

struct campaign {
	const struct kcamp *camp;
	/* names that the templates of the stable part may use; owned */
	json_t *stable;
	json_t *instructions; /* prompts/instructions/BACKEND.json; owned */
	struct texts tips;    /* those that suit the task and the machine */
	char *reference;      /* source of the reference, as read */
	/* sections of knowledge that suit the campaign, in order; owned */
	json_t *notes;
	json_t *when;       /* table "when" of routes.json; owned, may be NULL */
	const char *device; /* name for result lines; borrowed from STABLE */
};

/* A rendered prompt; the buffers are the caller's. */
struct prompt {
	struct kbuf system, user;
	size_t stable_bytes;
	json_t *sections;
};

/*
 * files.c: prompt files. Each is looked for in DIR/prompts first, then among the files that ship,
 * and read once.
 */
void files_init(const char *dir);
/* Path of the prompt file NAME ("tips/c.txt"), or NULL; the caller frees. */
char *files_find(const char *name);
/* The JSON file prompts/NAME; dies with K_MISSING when there is none. New reference. */
json_t *files_json(const char *name);
/*
 * Render template NAME (without ".txt") from CONTEXT; SECTIONS: see ktemplate.h. A fault in it dies
 * with K_USAGE.
 */
void files_render(struct kbuf *out, const char *name, const json_t *context, json_t *sections);
/* Render a one-off TEXT; WHERE is for messages. The caller frees. */
/* How many prompt files have been read; and those from number FIRST on, as they stand. */
size_t files_read(void);
void files_forms(struct kbuf *out, size_t first);
char *files_fill(const char *text, const char *where, const json_t *context);
void files_free(void);

/* machine.c: what trials/000/machine.json says, and what follows from it, added to STABLE. */
void machine_facts(json_t *stable, const struct kcamp *camp);

/* roofline.c: what trials/000/roofline.json says of device and workloads, added to STABLE. */
void roofline_facts(json_t *stable, const struct kcamp *camp);

/*
 * task.c: what task.json says, added to STABLE; returns the source of the reference, which the
 * caller frees.
 */
char *task_facts(json_t *stable, const struct kcamp *camp);

/*
 * families.c: what the REFERENCE does, added to STABLE: "family", "kinds" and "name_fits", for
 * which op and task stand there already.
 */
void family_facts(json_t *stable, const char *reference, enum ktoken_lang lang);

/* profile.c: the list of skills, one line each, added to STABLE. */
void skill_facts(json_t *stable, const struct kcamp *camp);
/* "profile" of the parent, added to FACTS: false when there is none. SALT: see kfence.h. */
void profile_facts(json_t *facts, const struct campaign *c, const json_t *parent, const char *salt);
/*
 * What a cheaper model wrote of a program's log, to be shown in its place; NULL when there is none.
 * Borrowed.
 */
const char *program_digest(const json_t *program);

/* The profile that a program or the evaluation in it carries; NULL when there is none. Borrowed. */
const json_t *program_profile(const json_t *program);

/*
 * notes.c: the sections of the note in PATH as an array of {"file", "section", "title", "text",
 * "priority", "tokens"} and, where the note says so, "ops", "archs", "backends", "dtypes"
 * and "when", lists of words that stand in WORDS, {"ops": {word: true}, …}. A fault in the note
 * dies with K_USAGE, file and line. New reference.
 */
json_t *notes_read(const char *path, const char *file, const json_t *words);

/*
 * project.c: "project", passages of the project that the user names, and "passages", what they are,
 * added to STABLE, where op, task and entry stand already. At most BUDGET tokens; returns how many.
 */
long project_facts(json_t *stable, const struct kcamp *camp, long budget);

/*
 * knowledge.c: find what suits the campaign, and add "knowledge" and "has_knowledge" to c->stable.
 */
void knowledge_open(struct campaign *c);
/*
 * "leads", sections for what PROFILE (may be NULL) and SAMPLE say of the parent, and "has_leads",
 * added to FACTS.
 */
void lead_facts(
    json_t *facts, const struct campaign *c, const json_t *sample, const json_t *profile);
/*
 * What was shown of notes, and of the reference project, for the record: [{"file", "section",
 * "tokens", "sha256"}]. New references.
 */
json_t *knowledge_member(const json_t *facts);
json_t *project_member(const json_t *facts);
/* One line for each section that suits the campaign, for a person. */
void knowledge_list(const struct campaign *c);

/*
 * memory.c: "recall" and "history", what the campaign and earlier ones remember, added to FACTS;
 * false: nothing.
 */
void memory_facts(
    json_t *facts, const struct campaign *c, const struct krec *rec, const char *salt);
/*
 * What was shown of it, for the record: {"versions", "masks", "compact", "tips", "library",
 * "tokens"}. New reference; NULL: nothing.
 */
json_t *memory_member(const json_t *facts);

/*
 * digest.c: a record with the prompt that asks a second model for a digest of an evaluated record's
 * log. New reference.
 */
json_t *digest_record(const struct campaign *c, const struct krec *rec);

/*
 * linear.c: "linear", the rules of a linear search, added to STABLE; and "round", what the sample
 * says of the rounds so far, added to FACTS, with LAST, the facts of the program that failed last,
 * or NULL (taken over).
 */
void linear_rules(json_t *stable, const struct kcamp *camp);
void linear_facts(
    json_t *facts, const struct campaign *c, const json_t *sample, json_t *last, const char *salt);

/*
 * What the application that the kernel comes from said of programs that were put into it. New
 * reference.
 */
json_t *application_text(const json_t *sample, const char *salt);

/*
 * record.c: the facts of one record, as the templates of the volatile part name them. New
 * reference.
 */
json_t *record_facts(const struct campaign *c, const struct krec *rec);

#endif
