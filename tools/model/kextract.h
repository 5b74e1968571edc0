/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kextract: the code in a model's reply. In order of trust: text between <LANGUAGE> tags, fences
 * labelled with the language or a related one, any fence, and finally the longest run of lines that
 * look like code. Within a class the longest wins.
 */
#pragma once

#include "kutil.h"

enum {
	KEXTRACT_MIN_CHARS = 16, /* a text with fewer non-blank characters is not a program */
	KEXTRACT_MAX_FILES = 16  /* extra files of a bundle */
};

struct kextract_file {
	char path[64]; /* relative, of [A-Za-z0-9._/-]; no component begins with a dot */
	char *content; /* owned */
};

struct kextract {
	/* owned; LF line ends, one newline at the end; NULL when nothing was found */
	char *code;
	const char *how; /* "tag", "label", "fence", "lines", or "" */
	bool unclosed;   /* the fence was not closed: the reply was cut off */
	struct kextract_file files[KEXTRACT_MAX_FILES];
	size_t file_count;
};

/*
 * Extracts the program in LANGUAGE (the name of a backend, or any other label, which stands for
 * itself) from LEN bytes of TEXT (any bytes). With BUNDLE, labelled fences with a file name ("c
 * file=tile.h", "c:tile.h") become files next to the program. Returns true when a program was
 * found; X is filled in either case and freed with kextract_free.
 */
bool kextract(const char *text, size_t len, const char *language, bool bundle, struct kextract *x);
void kextract_free(struct kextract *x);

/*
 * A path that a bundle may use: relative, plain characters, no dot files, no "..", shorter than
 * kextract_file.path.
 */
bool kextract_path_ok(const char *path);

/*
 * May a reply to a prompt that shows PROGRAM consist of edits? A short program, or one of several
 * files, must be written in full. PROGRAM may be NULL.
 */
enum { KEXTRACT_LONG = 6000 }; /* bytes */
bool kextract_takes_edits(const char *program, bool bundle);
