/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kextract: the code in a model's reply. In order of trust: text between <LANGUAGE> tags, fences
 * labelled with the language or a relative of it, any fence, and last the longest run of lines that
 * read like code. Within a class the longest wins.
 */
#ifndef KEXTRACT_H
#define KEXTRACT_H

#include "kutil.h"

enum {
	KEXTRACT_MIN_CHARS = 16, /* fewer characters that are not blank are no program */
	KEXTRACT_MAX_FILES = 16  /* extra files of a bundle */
};

struct kextract_file {
	char path[64]; /* relative, of [A-Za-z0-9._/-], no component begins with a dot */
	char *content; /* owned */
};

struct kextract {
	/* owned; LF line ends, one newline at the end; NULL when nothing was found */
	char *code;
	const char *how; /* "tag", "label", "fence", "lines", or "" */
	bool unclosed;   /* the fence had no end: a reply that was cut off */
	struct kextract_file files[KEXTRACT_MAX_FILES];
	size_t file_count;
};

/*
 * Extract from LEN bytes of TEXT (any bytes) the program in LANGUAGE (the name of a backend, or any
 * other label, which then stands for itself). With BUNDLE, labelled fences that bear a file name
 * ("c file=tile.h", "c:tile.h") become files beside the program. True when a program was found; X
 * is filled either way and freed with kextract_free.
 */
bool kextract(const char *text, size_t len, const char *language, bool bundle, struct kextract *x);
void kextract_free(struct kextract *x);

/*
 * A path that a bundle may use: relative, plain characters, no dot files, no "..", shorter than
 * kextract_file.path.
 */
bool kextract_path_ok(const char *path);

/*
 * May a reply to a prompt that shows PROGRAM consist of edits of it? One that is short, or of
 * several files, is to be written whole. PROGRAM may be NULL.
 */
enum { KEXTRACT_LONG = 6000 }; /* bytes */
bool kextract_takes_edits(const char *program, bool bundle);

#endif
