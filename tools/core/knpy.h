/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knpy: arrays in files of NumPy's format (.npy, versions 1 to 3): little-endian numbers and
 * booleans, in C's order.
 */
#ifndef KNPY_H
#define KNPY_H

#include "kutil.h"

struct knpy {
	char kind;    /* as NumPy has it: f, i, u or b */
	size_t size;  /* of an element, bytes */
	size_t count; /* elements, of all dimensions */
	char *data;   /* owned */
	char *memory; /* the whole file; owned */
};

/* False, with nothing to free, when PATH is no such file: WHY says what is wrong. */
bool knpy_read(const char *path, struct knpy *a, char *why, size_t why_len);
/* A file of COUNT elements; false with errno when it cannot be written. */
bool knpy_write(const char *path, char kind, size_t size, const void *data, size_t count);
void knpy_free(struct knpy *a);

#endif
