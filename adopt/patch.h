/* SPDX-License-Identifier: Apache-2.0 */
/* patch: files of the project with a winner in them. */
#pragma once

#include "kadopt.h"

/* The bytes FROM to TO of a file are replaced by TEXT. */
struct edit {
	char *file;
	size_t from, to;
	char *text;
};
struct edits {
	struct edit *list;
	size_t count;
};
/* TEXT is taken over. */
void edits_add(struct edits *e, const char *file, size_t from, size_t to, char *text);
/* Appends bytes FROM to TO of TEXT, the contents of FILE, with that file's edits applied. */
void edits_apply(const struct edits *e, const char *file, const char *text, size_t from, size_t to,
    struct kbuf *out);
/* Applies them to the files in FOLDER; dies if a link leads from there to a file outside ROOT. */
void edits_write(const struct edits *e, const char *root, const char *folder);
void edits_free(struct edits *e);

struct patch_file {
	char *name, *was, *text; /* name within the project; owned */
};
struct patch {
	struct patch_file *files; /* the first one has the kernel */
	size_t count;
	/*
	 * what watching must know about the function that launches now call, in the form of
	 * unit_json; NULL: calls and launches are unchanged
	 */
	json_t *called;
};
/* The texts are taken over. */
void patch_add(struct patch *p, const char *name, char *was, char *text);
/* Write the new files, or with WAS the old ones, into FOLDER, which is made anew. */
void patch_write(const struct patch *p, bool was, const char *folder);
