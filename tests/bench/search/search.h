/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search-bench: simulated landscapes, a simulated model, and searches that are to find the best program. Nothing of it is
 * known to the search but what a scored record says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "karch.h"
#include "kutil.h"

enum { HIDDEN = 6, BUDGET = 200, EARLY = 60 };

/* A program: what the descriptor sees of it, and what it does not. */
struct point {
	int cell;
	double hidden[HIDDEN]; /* 0 to 1 each */
};

struct world;

struct landscape {
	const char *name;
	void (*shape)(struct world *w, struct krng *rng); /* fills w->value; NULL: all cells are alike */
	double range;   /* speed-up of the optimum */
	double cells;   /* share of the cell in the logarithm of that; the hidden parameters have the rest */
	double failing; /* of steps of length 0; every further level adds STEP_FAILS */
	double noise;   /* of a measurement: standard deviation of its logarithm */
	double drift;   /* the same, of what each candidate adds to all later ones */
	double comply;  /* of replies that do what the prompt asks */
	bool saturated; /* whatever is asked, most replies lie near cell 3333 */
	bool held_out;  /* no constant was chosen on it */
};
extern const struct landscape landscapes[];
extern const size_t landscape_count;

struct world {
	const struct landscape *l;
	double value[KARCH_CELLS]; /* the reference's cell 0, the best one 1 */
	double best[HIDDEN];
	struct point reference;
	double start; /* quality of the reference's hidden parameters */
};

void world_init(struct world *w, const struct landscape *l, uint64_t seed);
/* 0: as fast as the reference; 1: the optimum. On the scale of log speed-ups. */
double world_height(const struct world *w, const struct point *p);

/* What the model makes of PARENT when it is asked for TARGET (-1: anything), and what a measurement of that says. */
struct reply {
	struct point point;
	const char *status; /* "correct", or how it failed */
	double speedup;     /* as measured; 0: failed */
	double height;
};
void model_reply(struct world *w, uint64_t seed, long number, const struct point *parent, int target, bool repair,
    struct reply *reply);
/* One step up or down from CELL, UP times as often up, or CELL itself with the chance STAY. */
int random_step(struct krng *rng, int cell, double up, double stay);

/* HEIGHT[n]: the true height of what a search holds for the best after n candidates. */
void run_kiln(struct world *w, uint64_t seed, const char *dir, const char *knobs, bool processes, double height[BUDGET + 1]);
/* A search of a few lines by its name; false: there is none. */
bool run_simple(struct world *w, uint64_t seed, const char *name, double height[BUDGET + 1]);
