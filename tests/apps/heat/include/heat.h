/* SPDX-License-Identifier: Apache-2.0 */
/* heat: plates, what warms them, how warmth spreads, what is written at the end. */
#ifndef HEAT_H
#define HEAT_H

#include <stdio.h>

#include "heat_types.h"

struct heat_plate {
	char name[32];
	int rows, cols;
	heat_real *field, *next;	/* degrees above the surroundings, row by row */
	heat_real *conduct;		/* 0: an insulator, 1: a perfect conductor */
	struct heat_spot spots[HEAT_SPOTS_MAX];
	int spot_count;
};

static inline int
heat_clamp(int i, int n)
{
	return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* plate.c */
int heat_read_plates(const char *path, struct heat_plate *plates, int max);
void heat_free_plate(struct heat_plate *p);

/* source.c */
void heat_inject(struct heat_plate *p);

/*
 * diffuse.c: one step. A cell moves by STEP times its conduction towards the mean of the cells within RADIUS (a square,
 * the plate's edge repeated beyond it), which count less with their distance: half as far as SPREAD, exp(-1/8).
 */
void heat_diffuse(const heat_real *field, const heat_real *conduct, heat_real *next, int rows, int cols, int radius,
    heat_real spread, heat_real step);

/* result.c */
void heat_write(FILE *f, const struct heat_plate *p);

#endif
