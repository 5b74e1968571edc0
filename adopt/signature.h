/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature: where the watched function is defined, and its parameters, in the form that the
 * wrapper needs.
 */
#pragma once

#include "kscan.h"

/* Offsets into the text. */
struct signature {
	size_t from;      /* first character of the definition */
	size_t name;      /* the function's name */
	size_t body, end; /* the opening brace, and the position after the closing one */
	/* after the last #include line before it, outside any condition or brace; or 0 */
	size_t include;
	int line;     /* of the name */
	bool returns; /* it does not return void */
	bool kernel;  /* a __global__ function */
	struct kscan_signature of;
};

/*
 * False with the reason in WHY: none, several, or parameters without names. Of several, the one in
 * LINE is taken, unless that is 0. Free with signature_free.
 */
bool signature_find(const char *text, size_t len, const char *name, size_t line,
    struct signature *s, char *why, size_t why_len);
void signature_free(struct signature *s);

/* Is it the handle of a GPU queue? That is not an argument, but times are taken on it. */
bool signature_is_stream(const struct kscan_param *p);

/*
 * Append a line "NAME KIND:NAME…" for every __global__ function defined in the text, which says how
 * to read its parameters from a launch. KIND: p pointer, i4, i8, u4, u8 integers, f4, f8, b1, or ?
 * for types that C does not have.
 */
void signature_layout(const char *text, size_t len, struct kbuf *out);
