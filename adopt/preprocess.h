/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preprocess: a source as its compiler sees it: macros expanded, conditions decided. Text from
 * outside the project is left out.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The origin of a piece of the text. */
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
 * FILE of PROJECT, with the compiler, "flags", "include" and "forced" of SETTINGS, from
 * compile_settings; NULL: the compiler failed. The caller frees both.
 */
char *preprocess_file(
    const char *project, const char *file, const json_t *settings, struct origins *origins);
void origins_free(struct origins *o);
/*
 * Is the variable NAME larger than that many BYTES? It is one of those DECLARED, as text that may
 * follow FILE. Also false if the compiler does not know.
 */
bool preprocess_is_larger(const char *project, const char *file, const json_t *settings,
    const char *declared, const char *name, size_t bytes);
/*
 * FILE with the project's includes inserted and conditions decided, macros EXPANDED or not, and
 * system headers still included; for a header, the first source that includes it. NULL: the
 * compiler cannot do that (gcc can). The caller frees.
 */
char *preprocess_conditions(
    const char *project, const char *file, const json_t *settings, bool expanded);
/* The origin of the byte AT of TEXT, which is whole; without a file, which is borrowed: unknown. */
struct origin origin_of(const struct origins *o, const char *text, size_t at);
