/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgrad: transitions between cells, what is counted of them per cell, and the gradient made of
 * that.
 */
#ifndef KGRAD_H
#define KGRAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "karch.h"
#include "kcamp.h"
#include "kcandidate.h"
#include "kutil.h"

/* Lines of the file, as they stand there; borrowed. */
struct span {
	const char *s;
	size_t len;
};

/* How often a step was taken from a cell, and how often it paid. */
struct direction {
	int step[KARCH_DIMS]; /* child's level - parent's level */
	long samples, successes;
	double delta; /* sum of score differences */
};

/*
 * What is known of a cell. Counts are of the transitions kept that are numbered SINCE or higher. A
 * cell that no transition of this run touches is not taken apart: its line is copied from REST on,
 * and only the gradient before that is new.
 */
struct cell {
	bool used;
	/* in the text of the file; s is NULL once the cell has been taken apart */
	struct span rest;
	/* trial of the last transition; the least recent cell goes first */
	long updated;
	long long since; /* number of the first transition counted here */
	long departures, arrivals, improvements, discoveries, replacements;
	double delta;
	/*
	 * Per dimension: sums of sign(step) * delta * w and of w, with w = decay ^ (BASE - trial of
	 * the transition).
	 */
	double sum[KARCH_DIMS], weight[KARCH_DIMS];
	long base;
	double fitness[KARCH_DIMS], rates[KARCH_DIMS]; /* the parts F and R of the gradient */
	struct direction *directions;                  /* in order of their steps */
	size_t count, capacity;
};

/* One candidate's way from its parent's cell to its own. */
struct transition {
	char id[KARCH_ID], parent[KARCH_ID];
	long trial;
	int from, to;
	double delta;
	const char *outcome; /* discovery, replacement, improvement, regression, neutral */
	bool success;
	/* from a broken parent: kept, but it says nothing about directions */
	bool repair;
};

struct gradient {
	char *text;      /* the file read; NULL: a new gradient */
	long trial;      /* last one in it; -1: none */
	long long total; /* transitions ever */
	size_t kept;     /* and those still here, the last of them */
	struct cell cells[KARCH_CELLS];
	struct span old;   /* their lines in the file, */
	struct kbuf added; /* and those of this run, */
	size_t start;      /* which count from here on */
};

/* file.c */
void gradient_load(struct gradient *g, const char *path);
/*
 * Header, cells with the gradient at each, transitions. The archive says which cells are empty or
 * poor.
 */
void gradient_put(const struct gradient *g, const struct kcamp *camp, const struct karch *archive);
void gradient_free(struct gradient *g);
/* Take the line of a cell apart, so that it can be changed. */
void cell_open(struct cell *cell);

/*
 * track.c: put scored records in; ARCHIVE is the one before them, and is brought up to date as they
 * pass.
 */
void gradient_update(struct gradient *g, const struct kcamp *camp, struct karch *archive,
    char *const *files, size_t count);

/* slope.c: the parts of the gradient at a cell, and their weighted sum. */
void fitness_part(struct cell *cell);
void rate_part(struct cell *cell);
/*
 * What pulls towards a cell: 1 when it is empty; what its elite lacks to the best when it is below
 * the median; or 0.
 */
void pulls(const struct karch *archive, double pull[KARCH_CELLS]);
void slope(const struct cell *cell, int at, const double pull[KARCH_CELLS], double out[KARCH_DIMS]);

#endif
