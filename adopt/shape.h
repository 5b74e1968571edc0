/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parameters of a function are: sizes, scalars, arrays and their shapes, as calls were
 * observed.
 */
#ifndef SHAPE_H
#define SHAPE_H

#include "adopt.h"

enum role { ROLE_ARRAY, ROLE_AXIS, ROLE_SCALAR, ROLE_STREAM };

struct value {
	char *name;
	enum role role;
	const char *dtype;      /* as a task names it */
	size_t bytes;           /* of an element */
	bool constant, written; /* of an array: declared so; seen so */
	bool size;              /* of an axis: it is in a shape */
	/* of an axis: the expression of others that it was in every call; or NULL */
	char *tied;
	/* of an array: what its brackets say, "rows*cols"; NULL: they do not say it all */
	char *declared;
	char *shape;    /* of an array: factors with '*' between, "rows*cols" */
	bool fresh;     /* whole numbers, of which the kernel takes any that were recorded */
	bool own;       /* the shape is a size of its own, which no argument tells */
	bool reached;   /* its elements are what calls touch, and not a piece of memory */
	json_t *shared; /* the sizes of blocks of which calls get parts, a set */
	size_t align;   /* its address was a multiple of so many bytes in every call */
	/* the shape is the model's word, one of several that fit the calls */
	bool asked;
};

struct values {
	struct value *at;
	size_t count;
	json_t *calls; /* observed, each set of arguments once, the first one */
	json_t *notes; /* lines */
	bool recorded; /* arrays of the chosen calls are there */
};

/*
 * The parameters of the kernel in TEXT, the reference, with what adopt/observed.ndjson tells. Dies,
 * naming the parameter and what to do, where a shape or type cannot be told. Free with values_free.
 */
void values_find(struct values *v, const struct adoption *a, const char *text);
void values_free(struct values *v);
/* The array X is written, although the calls left in it what was there: take it so, and note it. */
void value_is_written(struct values *v, struct value *x);
/* Bytes that calls with these arguments touch of array X; 0: not known. */
size_t value_reach(const struct values *v, const struct value *x, const json_t *args);
/* True and false among the arguments of a call as a task has them, 1 and 0. */
void values_number(json_t *args);
/*
 * Where in the code a size bounds work: "A" (a thread that is too far returns), "B" (the trip count
 * of a loop), "AB", or "".
 */
const char *value_bounds(const char *text, const char *name);

#endif
