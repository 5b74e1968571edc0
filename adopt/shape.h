/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of a function: sizes, scalars, arrays and their shapes, derived from observed
 * calls.
 */
#pragma once

#include "adopt.h"

enum role { ROLE_ARRAY, ROLE_AXIS, ROLE_SCALAR, ROLE_STREAM };

struct value {
	char *name;
	enum role role;
	const char *dtype;      /* with the task's name */
	size_t bytes;           /* of an element */
	bool constant, written; /* for an array: declared const; observed to change */
	bool size;              /* for an axis: it occurs in a shape */
	bool listed;            /* for an axis: only the workloads' values are safe */
	/* for an axis: the expression of other axes that it equals in every call; or NULL */
	char *tied;
	/* for an array: the shape in its brackets, "rows*cols"; NULL: incomplete */
	char *declared;
	char *shape;    /* for an array: factors separated by '*', "rows*cols" */
	bool fresh;     /* integers; the kernel accepts any that were recorded, in any order */
	bool own;       /* the shape is a size of its own, which no argument determines */
	bool measured;  /* every exact size counts, touched or not */
	bool reached;   /* its size is what calls touch, not a piece of memory */
	bool optional;  /* a null pointer in some calls, which are left out */
	json_t *shared; /* the sizes of blocks of which calls get parts, a set */
	size_t align;   /* its address was a multiple of this many bytes in every call */
	/* the shape was chosen by the model among several that fit the calls */
	bool asked;
};

/* Those of the kernel whose task is made. */
extern struct parameters {
	struct value *at;
	size_t count;
	json_t *calls; /* observed calls, the first for each set of arguments */
	json_t *notes; /* lines */
	bool told;     /* the notes so far were printed; others are printed at once */
	bool recorded; /* arrays of the chosen calls were recorded */
} parameters;

/* For every parameter X. */
#define values_each(x) kforeach_of(x, parameters.at, parameters.count)

/*
 * The parameters of the kernel in TEXT, the reference, determined with adopt/observed.ndjson. Dies,
 * naming the parameter and what to do, if a shape or type cannot be determined.
 */
void values_find(const char *text);
/* What the entry's argument NAME is in the application; NULL: unknown. */
const json_t *value_parameter(const char *name);
/* Is one of the pointers of an observed call a null pointer? */
bool call_has_null(const json_t *call);
/*
 * The entry's number that says whether the array NAME is there in a call with ARGS, and not a null
 * pointer; NULL: it has none.
 */
const json_t *value_given(const json_t *args, const char *name);
/* Is it an axis that no other one determines? */
static inline bool
value_is_free(const struct value *x)
{
	return x->role == ROLE_AXIS && !x->tied;
}
/* Notes are printed together, when the task is settled. */
void __attribute__((format(printf, 1, 2))) add_note(const char *fmt, ...);
void tell_notes(void);
/* Records, with a note, that the array X is written although calls left the old values in it. */
void value_is_written(struct value *x);
/* Bytes that calls with these arguments touch of array X; 0: unknown. */
size_t value_reach(const struct value *x, const json_t *args);
/* "a, b, c" of an array; the caller frees. */
char *listed(const json_t *names);
/* Converts true and false among a call's arguments to the task's 1 and 0. */
void values_number(json_t *args);
