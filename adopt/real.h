/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real: is the application faster with the winner? Both programs run in turns, and every call of
 * the function is timed.
 */
#ifndef REAL_H
#define REAL_H

#include "adopt.h"
#include "patch.h"

struct real {
	/* by the gate, beyond the noise, and the application as a whole is not slower */
	bool faster;
	/* of the time of all calls: 1 - new / old, the median over pairs of runs */
	double reduction;
	double low, high; /* its interval */
	double worst;     /* the smallest of a pair */
	double wall;      /* time of whole runs, new over old, medians */
	json_t *record;   /* pairs, calls by configuration; owned */
	char *why;        /* it is not; owned */
};

/*
 * Build the program with the files of P, or with what they WERE, in a copy that is watched; see the
 * log watch-build. False: it does not build.
 */
bool real_build(const struct adoption *a, const struct patch *p, bool was);
/*
 * Run both programs in turns, PAIRS times each, and more often while that leaves it open which is
 * faster. False: they could not be run, and WHY says so. Nothing of the project is touched.
 */
bool real_compare(
    const struct adoption *a, const struct patch *p, size_t pairs, double gate, struct real *r);
void real_free(struct real *r);

#endif
