/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcamp: the campaign manifest, campaign.json. Every knob is in ONE place, the JSON Schema
 * docs/schemas/campaign-1.json, with its type, default, range and meaning. The table below is made
 * from it when kiln is built (knobs.jq), and the form that the loader and `kcampaign check` want.
 */
#pragma once

#include "kio.h"

/* The format of the file: its member "schema", which may be left out. */
#define KCAMP_SCHEMA "campaign/1"

struct kknob {
	const char *path; /* dotted: "search.exploit" */
	bool text;
	const char *def; /* default as text; NULL: required; "": none */
};
extern const struct kknob kknobs[];
extern const size_t kknobs_count;

/* The manifest of this process. */
extern struct kcamp {
	/* its folder, set before anything else; "." unless it is */
	const char *dir;
	char *file;   /* dir/campaign.json */
	char *task;   /* the path of its task */
	json_t *json; /* as written; NULL: none is loaded */
} kcamp;

/*
 * Load campaign.json of that folder. Every field is checked: an unknown, misspelt, ill-typed
 * or out-of-range field ends the program with K_USAGE, naming file and field and saying what would
 * be right. It stays until another one is loaded.
 */
void kcamp_load(void);
/*
 * The only link that kiln makes in the folder, archive.ndjson, points to the archive of a trial:
 * its number, or -1 without the link. Another target ends the program like a wrong field.
 */
long kcamp_position(void);
/*
 * A campaign may come from somebody else, and its folder may contain links that lead out of it.
 * kcamp_load refuses such links among the names that kiln makes there, and this function refuses
 * them anywhere below trials, rounds, logs and memory: programs that walk through a whole campaign
 * call it first. Anything that is neither a file nor a folder is refused, too. Dies with K_USAGE
 * and the name.
 */
void kcamp_no_links(void);
/*
 * The same check, collecting instead of dying: number of faults, one line each appended to TEXT
 * (caller frees *TEXT).
 */
size_t kcamp_faults(const json_t *manifest, char **text);

/*
 * Value of a knob, or its default. PATH must be in the table (a wrong path is a bug and aborts).
 * Borrowed.
 */
double kcamp_num(const char *path);
long kcamp_int(const char *path);
bool kcamp_bool(const char *path);
const char *kcamp_str(const char *path);
bool kcamp_is(const char *path, const char *word);
const json_t *kcamp_json(const char *path); /* NULL when absent */

/*
 * Is the search linear: a chain of rounds? And the candidates of a trial: search.branches, or one.
 */
/* The row of backend.h for the knob "backend". */
const struct backend *kcamp_backend(void);
/*
 * Why the campaign cannot be evaluated here: kiln has no program that runs kernels of its backend,
 * or of its task's LANGUAGE (may be NULL), and the campaign has no commands of its own that replace
 * a runner. NULL: it can be evaluated. The caller frees.
 */
char *kcamp_lacks_runner(const char *language);
bool kcamp_linear(void);
long kcamp_branches(void);

/*
 * What times in records mean: milliseconds. If the timing command has a metric of its own, a value
 * for which lower is better is stored as that many milliseconds, and a rate as the time of one
 * unit. Converts a time to the value that people read, and also back; and that value's unit.
 */
double kcamp_shown(double ms);
const char *kcamp_unit(void);

/* Path of a file named in the manifest, relative to the campaign folder: a text of kshown. */
const char *kcamp_path(const char *name);
