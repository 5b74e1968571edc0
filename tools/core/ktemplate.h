/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktemplate: fill in text templates from JSON. No code is ever run, and a value is never read as a
 * template again.
 *
 *   {{name}}            the string or number NAME; "simd.type" goes into objects; {{.}} is the
 *                       item itself. A name that does not exist is an error, so that a misspelt one
 *                       cannot pass as empty text.
 *   {{how:name}}        the same as the hook SHOW writes it.
 *   {{#name}}…{{/name}} the text between, once when NAME is true, a number other than 0, a
 *                       non-empty string or an object; once per item for an array. Absent, false,
 *                       0, "" and [] give nothing.
 *   {{^name}}…{{/name}} the text between when {{#name}} would give nothing.
 *   {{#has_name}}       once if NAME is a list that is not empty: a heading for all of it.
 *   {{#more}}           in the section of a list: true unless this is its last item.
 *   {{>name}}           another template; "@key" in NAME stands for the value of KEY
 *                       ("tips/@backend").
 *   {{! words }}        nothing: a comment.
 *
 * Names are looked up in the innermost section first. A line that holds nothing but one #, ^, /, >
 * or ! tag leaves no line behind, and runs of blank lines in the template's own text become one;
 * values are copied as they are.
 */
#pragma once

#include "kio.h"

struct ktemplate {
	/*
	 * Text of the template NAME, NUL-terminated, valid while rendering, with its name for
	 * messages in *FILE; NULL: not found. May be NULL when no partial is used.
	 */
	const char *(*load)(void *arg, const char *name, const char **file);
	void *arg;
	/*
	 * Array to which the first path component of every partial that gave text is appended; may
	 * be NULL.
	 */
	json_t *sections;
	/*
	 * Writes VALUE (NULL: none) in the format HOW ("" without one); false on failure. May be
	 * NULL: then strings and numbers are written unchanged.
	 */
	bool (*show)(struct kbuf *out, const char *how, const json_t *value);
};

/*
 * Append TEXT, filled in from the object CONTEXT, to OUT. FILE is for messages. On failure returns
 * "file:line: reason", a text of kshown, else NULL; OUT then holds the text rendered so far.
 */
const char *ktemplate_render(const struct ktemplate *t, struct kbuf *out, const char *text,
    const char *file, const json_t *context);
/* The same, but a failure is fatal (K_USAGE). */
void ktemplate_fill(const struct ktemplate *t, struct kbuf *out, const char *text, const char *file,
    const json_t *context);
/* The same for the text in the file PATH. */
void ktemplate_file(
    const struct ktemplate *t, struct kbuf *out, const char *path, const json_t *context);
