/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kseal: proof that nothing of a campaign was edited. DIR/seal.ndjson only grows. Each line says
 * what happened (its "kind": "round", "memory", "mask", "frozen", ...), names files by their
 * SHA-256 ("files": {PATH: DIGEST}), names the line before by its digest ("previous"), and ends
 * with its own ("sha256"), so a line that was changed, moved or removed is found, and which.
 *
 * It is a file of our own and not a git repository: it works where git is not installed, it
 * survives kill -9 without locks or half-written objects to clean up (the file is replaced by
 * rename, so a line is there or not), any tool can read it, and it takes less code. Only the last
 * line could be removed unnoticed; the files that it lists would then be unsealed, which the checks
 * report, and prompts name the last mask that they were made with.
 */
#pragma once

#include "kio.h"

#define KSEAL_FILE "seal.ndjson"

struct kseal {
	json_t *lines; /* of the requested kind, in order, each with "n", its number */
	char head[65]; /* digest of the last line; empty: there is none */
	/* Private. */
	char *path;
	struct kbuf text;
	long count;
	bool changed; /* since it was read */
};

/*
 * Lock the campaign's folder: exclusively, or shared with other readers. Closing the descriptor
 * unlocks it. To append, hold it exclusively from reading the seal to saving it.
 */
int kseal_lock(const char *dir, bool alone);
/*
 * Read the seal of DIR, if there is one, check its chain, and keep the lines of KIND (NULL: all).
 * The content of other lines is not compared with their digests, which takes a while in a long
 * seal. Returns NULL, or what is wrong as text that names file and line; the caller frees. Close it
 * in any case.
 */
char *kseal_read(struct kseal *s, const char *dir, const char *kind);
/* The same; a fault dies with K_USAGE. */
void kseal_open(struct kseal *s, const char *dir, const char *kind);
void kseal_close(struct kseal *s);
/*
 * Add a line with the members of EVENT, whose reference is taken; it appears among LINES. Nothing
 * is written.
 */
void kseal_add(struct kseal *s, const char *kind, json_t *event);
/* Write the added lines, if there are any. Dies with K_IO. */
void kseal_save(struct kseal *s);
/* All of the above for one line. */
void kseal_note(const char *dir, const char *kind, json_t *event);

/* The last line of KIND, or NULL. Borrowed. */
const json_t *kseal_last(const struct kseal *s, const char *kind);
/* The digest of PATH in LINE; "" when there is none. */
const char *kseal_digest(const json_t *line, const char *path);
/* Was a file with this content ever sealed as PATH? */
bool kseal_knows(const struct kseal *s, const char *path, const char *digest);

/* SHA-256 of a file, a text of kshown; NULL when there is none. Dies with K_IO. */
const char *kseal_file(const char *path);
/*
 * Those of FILES (ends with NULL) in DIR that exist, in the form of a line's "files". New
 * reference.
 */
json_t *kseal_files(const char *dir, const char *const *files);
/*
 * The first file of the last line of KIND that has changed since; the text, which begins with SINCE
 * and says what to do, is freed by the caller. NULL: none has.
 */
char *kseal_changed(const char *dir, const char *kind, const char *since);
/*
 * The same for the files of an adopted campaign on which all of its figures rest: task, reference,
 * oracle, observations. Also NULL if nothing was adopted.
 */
#define KSEAL_ADOPTED "adopted"
char *kseal_adopted(const char *dir);
