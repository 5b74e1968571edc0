/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preprocess: a source as its compiler sees it: macros in place, conditions decided. What comes
 * from outside the project is left out.
 */
#ifndef PREPROCESS_H
#define PREPROCESS_H

#include <jansson.h>
#include <stddef.h>

/* Where a piece of the text comes from. */
struct origin {
	size_t at;  /* its first byte */
	char *file; /* within the project */
	size_t line;
};
struct origins {
	struct origin *list;
	size_t count;
};

/*
 * FILE of PROJECT, with the compiler, "flags", "include" and "forced" of SETTINGS, as
 * compile_settings gives them; NULL: the compiler cannot. The caller frees both.
 */
char *preprocess(
    const char *project, const char *file, const json_t *settings, struct origins *origins);
void origins_free(struct origins *o);
/*
 * FILE with what it includes of the project in place and conditions decided, but macros as they
 * are, and the system's headers still included; of a header, the first source that includes it.
 * NULL: the compiler cannot (gcc can). The caller frees.
 */
char *preprocess_conditions(const char *project, const char *file, const json_t *settings);
/* Where the byte AT of the text comes from: its file, borrowed, and *LINE. TEXT is all of it. */
const char *origin_of(const struct origins *o, const char *text, size_t at, size_t *line);

#endif
