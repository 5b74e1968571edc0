/* SPDX-License-Identifier: Apache-2.0 */
/* numbers: the types of numbers, by their names in C and in a task. */
#pragma once

#include <jansson.h>

#include "kutil.h"

struct number_type {
	const char *dtype, *type; /* in a task, and in C */
	size_t bytes;
	bool integer;
	const char *layout; /* for kwatch; "?0": not in C, or smaller than an int */
	const char *names;  /* all names in C and its usual headers, between bars */
};
/* NULL: it is none. */
const struct number_type *number_type(const char *name);
/*
 * All of them, by dtype: their "type" in C, and whether it is "narrow", not as exact as a double.
 * New reference.
 */
json_t *number_types(void);
/* Numbers that C itself does not have, of 16 bits? */
bool number_is_half(const struct number_type *n);
