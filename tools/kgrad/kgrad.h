/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgrad: transitions between cells, the counts of them per cell, and the gradient computed from
 * these.
 */
#pragma once

#include "karch.h"
#include "kcamp.h"
#include "kcandidate.h"

/* The step of one candidate from its parent's cell to its own. */
struct transition {
	char id[KARCH_ID], parent[KARCH_ID];
	long trial;
	int from, to;
	double delta; /* logarithm of the ratio of speeds; 0 unless TIMED */
	bool timed;
	bool failed; /* did not build or run; wrong values say nothing about a step */
	bool correct;
	const char *outcome; /* discovery, replacement, improvement, regression, neutral */
	bool success;        /* faster than the parent by more than the noise */
	/* from a broken parent: kept, but it says nothing about directions */
	bool repair;
};

/* Of this run; gradient_load() begins it. */
extern struct gradient {
	struct karch_gradient old; /* as read; the lengths go on */
	long trial;                /* last trial in it; -1: none */
	long long total;           /* transitions ever */
	/*
	 * The cells that transitions of this run left, as in the file; the others are copied from
	 * the old file.
	 */
	json_t *cells[KARCH_CELLS];
	struct kbuf added; /* lines of the transitions of this run */
	long added_count;
} gradient;

/* file.c */
void gradient_load(const char *path);
/*
 * Writes the header, the cells with their gradients, and the transitions of this run; in a long
 * search only the cells that are new since the gradient of trial AFTER, unless that is -1.
 */
void gradient_put(long after);
void gradient_free(void);
/* A cell that can be changed. Borrowed. */
json_t *cell_open(int cell);

/*
 * track.c: add scored records; ARCHIVE is the one before them, and is updated as they are
 * processed.
 */
void gradient_update(char *const *files, size_t count);
