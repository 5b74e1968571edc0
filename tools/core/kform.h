/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kform: is a JSON value in the form that a schema gives? The rows are made from docs/schemas when
 * kiln is built (tools/model/form.jq), so a file's form is written down once.
 */
#pragma once

#include "kio.h"

/* Types of values; those that a row allows are a sum of them. */
enum {
	KFORM_OBJECT = 1 << JSON_OBJECT,
	KFORM_ARRAY = 1 << JSON_ARRAY,
	KFORM_STRING = 1 << JSON_STRING,
	KFORM_INTEGER = 1 << JSON_INTEGER,
	KFORM_NUMBER = 1 << JSON_INTEGER | 1 << JSON_REAL,
	KFORM_BOOLEAN = 1 << JSON_TRUE | 1 << JSON_FALSE,
	KFORM_NULL = 1 << JSON_NULL,
	KFORM_ANY = ~0
};

struct kform {
	const char *name; /* of the member; "*": every other member; "[]": the items of a list */
	int types;
	bool required;
	/*
	 * Of a text, "a|b|c", where a choice that ends with a colon accepts any text after it; or
	 * NULL.
	 */
	const char *choices;
	/*
	 * Of a number; of the characters of a text, the items of a list, the members of an object.
	 */
	double least, most;
	const char *help; /* or NULL */
	/* After the last one is a row without a name. NULL: anything may be in it. */
	const struct kform *members;
	/* Of a text: a regular expression, and what it must be in words; or NULL. */
	const char *pattern, *meaning;
	bool hidden; /* no message shows it: somebody may have written a secret there */
};

/*
 * Adds what is wrong with VALUE, which messages call PATH ("" for a whole file): a line for each
 * member that is missing or unknown, or has a wrong type or size.
 */
void kform_check(
    const struct kform *form, const json_t *value, const char *path, struct kfaults *faults);

/* The value in the file PATH. New reference. Dies with the first fault. */
json_t *kform_load(const struct kform *form, const char *path);
