/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knpy: arrays in NumPy's file format (.npy, versions 1 to 3): little-endian numbers and booleans,
 * in C order.
 */
#pragma once

#include "kutil.h"

struct knpy {
	char kind;    /* as in NumPy: f, i, u or b */
	size_t size;  /* of an element, in bytes */
	size_t count; /* elements, all dimensions together */
	char *data;   /* owned */
	char *memory; /* the whole file; owned */
};

/*
 * False, with nothing to free, when PATH is not a file that can be read here: WHY says what is
 * wrong.
 */
bool knpy_read(const char *path, struct knpy *a, char *why, size_t why_len);
/* Writes a file of COUNT elements; false with errno when it cannot be written. */
bool knpy_write(const char *path, char kind, size_t size, const void *data, size_t count);
void knpy_free(struct knpy *a);
