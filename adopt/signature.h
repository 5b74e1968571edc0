/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature: where the watched function is defined, and its parameters, as the wrapper around it
 * has to know them.
 */
#ifndef SIGNATURE_H
#define SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "kscan.h"

/* Offsets into the text. */
struct signature {
	size_t from;      /* first character of the definition */
	size_t name;      /* the function's name */
	size_t body, end; /* the opening brace, and one behind the closing one */
	/* behind the last #include line before it, outside any condition or brace; or 0 */
	size_t include;
	int line;     /* of the name */
	bool returns; /* something else than void */
	bool kernel;  /* a __global__ function */
	struct kscan_signature of;
};

/*
 * False with the reason in WHY: none, several, or parameters without names. Of several the one in
 * LINE, unless that is 0. Free with
 * signature_free.
 */
bool signature_find(const char *text, size_t len, const char *name, size_t line,
    struct signature *s, char *why, size_t why_len);
void signature_free(struct signature *s);

/* A handle of a queue of a GPU: no argument, but what time is taken on. */
bool signature_is_stream(const struct kscan_param *p);

/*
 * Append a line "NAME KIND:NAME…" for every __global__ function that is defined in the text: how
 * its parameters are read from a launch. KIND: p pointer, i4, i8, u4, u8 integers, f4, f8, b1, or ?
 * for types that are not C's own.
 */
void signature_layout(const char *text, size_t len, struct kbuf *out);

#endif
