/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature: where the watched function is defined, and its parameters, in the form that the
 * wrapper needs.
 */
#pragma once

#include "kscan.h"

struct signature {
	char *text; /* of the file; owned */
	struct kscan scan;
	const struct kscan_item *f; /* its definition in that */
	size_t behind;              /* after its name */
	/* after the last #include line before it, outside any condition or brace; or 0 */
	size_t include;
	int line;     /* of the name */
	bool returns; /* it does not return void */
	bool kernel;  /* a __global__ function */
	struct kscan_signature of;
};

/*
 * In TEXT, the contents of a file, which are taken over. Returns why there is no such function, to
 * be freed: none, several, or parameters without names; NULL: S is it. Of several, the one in LINE
 * is taken, unless that is 0. Free with signature_free in either case.
 */
char *signature_find(struct signature *s, char *text, size_t len, const char *name, size_t line);
void signature_free(struct signature *s);
#define auto_found __attribute__((cleanup(signature_free)))

/* Is it the handle of a GPU queue? That is not an argument, but times are taken on it. */
bool signature_is_stream(const struct kscan_param *p);

/*
 * Append a line "NAME KIND:NAME…" for every __global__ function defined there, which says how
 * to read its parameters from a launch. KIND: p pointer, i4, i8, u4, u8 integers, f4, f8, b1, or ?
 * for types that C does not have.
 */
void signature_layout(const struct kscan *k, struct kbuf *out);
