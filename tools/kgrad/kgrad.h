/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgrad: transitions between cells, what is counted of them per cell, and the gradient made of
 * that.
 */
#ifndef KGRAD_H
#define KGRAD_H

#include "karch.h"
#include "kcamp.h"
#include "kcandidate.h"

/* What came of a step from a cell. */
struct direction {
	int step[KARCH_DIMS]; /* child's level - parent's level */
	/* tries; those faster than the parent beyond the noise; those that did not build or run */
	long samples, successes, failures;
	/* logarithms of child's speed / parent's speed of the last that were timed, oldest first */
	double *deltas;
	size_t timed, capacity;
};

/*
 * What is known of a cell. A cell that no transition of this run touches is not taken apart: its
 * line is copied.
 */
struct cell {
	bool used;
	/* in the text of the file; NULL once the cell has been taken apart */
	const char *line;
	size_t len;
	long updated; /* trial of the last transition */
	long departures, arrivals, improvements, discoveries, replacements;
	/*
	 * Per dimension: sums of sign(step) * delta * w and of w, with w = decay ^ (BASE - trial of
	 * the transition). Their ratio is the gradient.
	 */
	double sum[KARCH_DIMS], weight[KARCH_DIMS];
	long base;
	struct direction *directions; /* in order of their steps */
	size_t count, capacity;
};

/* What came of steps by their length, whatever the cell: recent ones count more. */
struct length {
	double tries, correct;
	double gain; /* sum of the logarithms by which children were faster beyond the noise */
};

/* One candidate's way from its parent's cell to its own. */
struct transition {
	char id[KARCH_ID], parent[KARCH_ID];
	long trial;
	int from, to;
	double delta; /* logarithm of the ratio of speeds; 0 unless TIMED */
	bool timed;
	bool failed; /* did not build or run; wrong values say nothing about a step */
	bool correct;
	const char *outcome; /* discovery, replacement, improvement, regression, neutral */
	bool success;        /* faster than the parent beyond the noise */
	/* from a broken parent: kept, but it says nothing about directions */
	bool repair;
};

struct gradient {
	struct karch_gradient old; /* as read */
	long trial;                /* last one in it; -1: none */
	long long total;           /* transitions ever */
	struct cell cells[KARCH_CELLS];
	struct length lengths[KARCH_LENGTHS]; /* 0, 1, 2, more */
	struct kbuf added;                    /* lines of the transitions of this run */
	long added_count;
};

/* file.c */
void gradient_load(struct gradient *g, const char *path);
/*
 * Header, cells with the gradient at each, the transitions of this run; in a long search only the
 * cells that are new since the gradient of trial AFTER, unless that is -1.
 */
void gradient_put(const struct gradient *g, const struct kcamp *camp, long after);
void gradient_free(struct gradient *g);
/* Take the line of a cell apart, so that it can be changed. */
void cell_open(struct cell *cell);

/*
 * track.c: put scored records in; ARCHIVE is the one before them, and is brought up to date as they
 * pass.
 */
void gradient_update(struct gradient *g, const struct kcamp *camp, struct karch *archive,
    char *const *files, size_t count);

#endif
