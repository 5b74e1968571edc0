/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types: what a name of a type comes to in the sources of a project: a number, a structure of
 * numbers, or something that no task can be given.
 */
#ifndef TYPES_H
#define TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "unit.h"

/* Where types are looked up: first in the source at hand, then in the others. */
struct types {
	const struct unit_sources *sources;
	size_t which;
	/* names that stand for others here: the parameters of a template; may be NULL */
	const json_t *bound;
};

enum type_kind { TYPE_NUMBER, TYPE_VOID, TYPE_RECORD, TYPE_HANDLE, TYPE_UNKNOWN };

struct type {
	enum type_kind kind;
	char *name; /* a number: as C calls it; else as the application does; owned */
	int stars;  /* of the type and of what was asked for */
	bool constant;
	bool cast; /* a number that the application calls otherwise: an enumeration */
	/* a record that the project defines; NULL: one of a system */
	const struct unit_source *source;
	const struct kscan_item *item;
};

/* NAME, with STARS more; free with type_free. */
void type_find(const struct types *t, const char *name, int stars, struct type *type);
void type_free(struct type *type);

/* A number that a record is made of: "x", "size[2]", "at.y". */
struct type_leaf {
	char *path, *type;
};
/*
 * All numbers of the record, as deep as they are. False: it holds something else, or more than
 * LEAVES, whose path is in LIST[0] then. Free with type_leaves_free either way.
 */
enum { TYPE_LEAVES = 64 };
struct type_leaves {
	struct type_leaf list[TYPE_LEAVES];
	size_t count;
	bool many; /* plain, but more than fit */
};
bool type_leaves(const struct types *t, const struct type *record, struct type_leaves *leaves);
void type_leaves_free(struct type_leaves *leaves);
/* The type that all leaves have; NULL: they differ. Borrowed. */
const char *type_common(const struct type_leaves *leaves);

#endif
