/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types: resolves the name of a type in the sources of a project: to a number, a structure of
 * numbers, or something that cannot be passed to a task.
 */
#pragma once

#include "unit.h"

/* Where types are looked up: first in the current source, then in the others. */
struct types {
	const struct unit_source *own;
	/* names with another meaning here: the parameters of a template; may be NULL */
	const json_t *bound;
};

enum type_kind { TYPE_NUMBER, TYPE_VOID, TYPE_RECORD, TYPE_HANDLE, TYPE_UNKNOWN };

struct type {
	enum type_kind kind;
	char *name; /* for a number: its name in C; else its name in the application; owned */
	int stars;  /* from the type and from the request */
	bool constant;
	bool array; /* of a typedef, which counts as a star unless there is one */
	bool cast;  /* the application has another type: such an array, or an enumeration */
	/* a record that the project defines; NULL: a system record */
	const struct kscan_item *item;
};

/* Resolves NAME with STARS added; free with type_free. */
struct type type_find(const struct types *t, const char *name, int stars);
void type_free(struct type *type);
#define auto_type __attribute__((cleanup(type_free)))

/* One of the numbers in a record: "x", "size[2]", "at.y". */
struct type_leaf {
	char *path, *type;
};
/*
 * All numbers of the record, including nested ones. False: it contains something else, or more than
 * LEAVES; the path is then in LIST[0]. Free with type_leaves_free in either case.
 */
enum { TYPE_LEAVES = 64 };
struct type_leaves {
	struct type_leaf list[TYPE_LEAVES];
	size_t count;
	bool many; /* only numbers, but more than fit */
};
bool type_leaves(const struct types *t, const struct type *record, struct type_leaves *leaves);
void type_leaves_free(struct type_leaves *leaves);
#define auto_leaves __attribute__((cleanup(type_leaves_free)))
/* The common type of all leaves; NULL: they differ. Borrowed. */
const char *type_common(const struct type_leaves *leaves);

/*
 * The type for which the function F takes NAME, a pointer to void, itself or where it passes
 * it on: "(struct s *)p->NAME", "struct s *t = NAME"; NULL: none. DEPTH: 0. The caller frees.
 */
char *type_of_void(const struct types *t, const struct kscan_item *f, const char *name, int depth);
