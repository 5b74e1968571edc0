/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kskim: read a few members of a long record without building the rest. A record carries prompts and code of many
 * kilobytes; stages that want a score and an id skip over them at memory speed.
 */
#ifndef KSKIM_H
#define KSKIM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A JSON value as it stands in a text, borrowed; s is NULL when there is none. */
struct kspan {
	const char *s;
	size_t len;
};

/*
 * Members of OBJECT: OUT[i] is the value of KEYS[i], or absent; of equal keys the last counts, and a key that is
 * written with escapes is never found. False when the text is not delimited as one object. What is skipped is not
 * validated further: the stage that wrote the record parsed it.
 */
bool kskim_members(struct kspan object, const char *const *keys, size_t count, struct kspan *out);
/* The value at a dotted path, absent when there is none. */
struct kspan kskim_path(struct kspan object, const char *path);

/* The value parsed: new reference; NULL when absent or malformed. */
json_t *kskim_json(struct kspan value);
/* A string copied to BUF; false (and BUF empty) when it is absent, no string, has escapes, or does not fit. */
bool kskim_word(struct kspan value, char *buf, size_t size);
/* A number, or DEF when it is absent or no number. */
double kskim_num(struct kspan value, double def);
bool kskim_true(struct kspan value);

#endif
