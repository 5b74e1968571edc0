/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt, inside: the prompt files, the facts of a campaign that every prompt shares, and the facts of one record.
 */
#ifndef KPROMPT_H
#define KPROMPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kcamp.h"
#include "kio.h"
#include "kutil.h"

/* A list of paragraphs or texts. */
struct texts {
	char **item;
	size_t count;
};

struct campaign {
	const struct kcamp *camp;
	json_t *stable;			/* names that the templates of the stable part may use; owned */
	json_t *instructions;		/* prompts/instructions/BACKEND.json; owned */
	struct texts tips;		/* those that suit the task and the machine */
	char *reference;		/* source of the reference, as read */
	const char *device;		/* name for result lines; borrowed from STABLE */
};

/* A rendered prompt; the buffers are the caller's. */
struct prompt {
	struct kbuf system, user;
	size_t stable_bytes;
	json_t *sections;
};

/* files.c: prompt files. Each is looked for in DIR/prompts first, then among the files that ship, and read once. */
void files_init(const char *dir);
/* Path of the prompt file NAME ("tips/c.txt"), or NULL; the caller frees. */
char *files_find(const char *name);
/* The JSON file prompts/NAME; dies with K_MISSING when there is none. New reference. */
json_t *files_json(const char *name);
/* Render template NAME (without ".txt") from CONTEXT; SECTIONS: see ktemplate.h. A fault in it dies with K_USAGE. */
void files_render(struct kbuf *out, const char *name, const json_t *context, json_t *sections);
/* Render a one-off TEXT; WHERE is for messages. The caller frees. */
char *files_fill(const char *text, const char *where, const json_t *context);
void files_free(void);

/* machine.c: what trials/000/machine.json says, and what follows from it, added to STABLE. */
void machine_facts(json_t *stable, const struct kcamp *camp);

/* task.c: what task.json says, added to STABLE; returns the source of the reference, which the caller frees. */
char *task_facts(json_t *stable, const struct kcamp *camp);

/* profile.c: the list of skills, one line each, added to STABLE. */
void skill_facts(json_t *stable, const struct kcamp *camp);
/* "profile" of the parent, added to FACTS: false when there is none. SALT: see kfence.h. */
void profile_facts(json_t *facts, const struct campaign *c, const json_t *parent, const char *salt);
/* What a cheaper model wrote of a program's log, to be shown in its place; NULL when there is none. Borrowed. */
const char *program_digest(const json_t *program);

/* digest.c: a record with the prompt that asks a second model for a digest of an evaluated record's log. New reference. */
json_t *digest_record(const struct campaign *c, const struct krec *rec);

/* record.c: the facts of one record, as the templates of the volatile part name them. New reference. */
json_t *record_facts(const struct campaign *c, const struct krec *rec);

#endif
