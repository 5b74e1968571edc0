/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kseal: what proves that nothing of a campaign was edited. DIR/seal.ndjson only grows. Each line
 * says what happened (its "kind": "round", "memory", "mask", "frozen", ...), names files by their
 * SHA-256 ("files": {PATH: DIGEST}), names the line before by its digest ("previous"), and ends
 * with its own ("sha256"), so a line that was changed, moved or removed is found, and which.
 *
 * A file of our own and no git repository: it is there where git is not installed, it survives
 * kill -9 without locks or half objects to clean up (a line is there or it is not: the file is
 * replaced by rename), any tool can read it, and it takes less code. The last line alone could be
 * cut off unseen; what it vouches for then stands there unsealed, which the checks report, and
 * prompts name the last mask that they were made with.
 */
#ifndef KSEAL_H
#define KSEAL_H

#include "kio.h"

#define KSEAL_FILE "seal.ndjson"

struct kseal {
	json_t *lines; /* of the kind that was asked for, in order, each with "n", its number */
	char head[65]; /* digest of the last line; empty: there is none */
	/* Private. */
	char *path;
	struct kbuf text;
	long count;
	bool changed; /* since it was read */
};

/*
 * Hold the campaign's folder: alone, or with others who only read. Closing the descriptor gives it
 * back. Who appends holds it alone from reading the seal to saving it.
 */
int kseal_lock(const char *dir, bool alone);
/*
 * Read the seal of DIR, if there is one, check its chain, and keep the lines of KIND (NULL: all).
 * NULL, or what is wrong as text that names file and line; the caller frees. Close it in any case.
 */
char *kseal_read(struct kseal *s, const char *dir, const char *kind);
/* The same; a fault dies with K_USAGE. */
void kseal_open(struct kseal *s, const char *dir, const char *kind);
void kseal_close(struct kseal *s);
/* Add a line with the members of EVENT, which is taken; it is among LINES. Nothing is written. */
void kseal_add(struct kseal *s, const char *kind, json_t *event);
/* Write what was added, if anything was. Dies with K_IO. */
void kseal_save(struct kseal *s);
/* All of that for one line. */
void kseal_note(const char *dir, const char *kind, json_t *event);

/* The last line of KIND, or NULL. Borrowed. */
const json_t *kseal_last(const struct kseal *s, const char *kind);
/* What LINE says of PATH as a digest; "" when nothing. */
const char *kseal_digest(const json_t *line, const char *path);
/* Was a file of this content sealed as PATH, now or before? */
bool kseal_knows(const struct kseal *s, const char *path, const char *digest);

/* SHA-256 of a file; false when there is none. Dies with K_IO. */
bool kseal_file(const char *path, char hex[65]);
/* Those of FILES (ends with NULL) in DIR that exist, as "files" of a line. New reference. */
json_t *kseal_files(const char *dir, const char *const *files);
/*
 * The first file of the last line of KIND that is not what it was SINCE, as a line that says what
 * to do, which the caller frees; NULL: all are.
 */
char *kseal_changed(const char *dir, const char *kind, const char *since);
/*
 * The same of an adopted campaign's files on which all of its figures rest: task, reference,
 * oracle, observations. NULL: nothing was adopted, too.
 */
#define KSEAL_ADOPTED "adopted"
char *kseal_adopted(const char *dir);

#endif
