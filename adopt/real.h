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
	/*
	 * the gain reaches the gate, exceeds the noise, and the application as a whole is not
	 * slower
	 */
	bool faster;
	/* of the time of all calls: 1 - new / old, the median over pairs of runs */
	double reduction;
	double low, high; /* its interval */
	double worst;     /* the smallest reduction in a pair */
	double wall;      /* time of whole runs, new over old, medians */
	json_t *record;   /* pairs, calls by configuration; owned */
	char *why;        /* why it is not faster; owned */
};

/*
 * Build the program with the new files of P, or with WAS its old ones, in a copy that is watched;
 * the log is watch-build. False: it does not build.
 */
bool real_build(const struct adoption *a, const struct patch *p, bool was);
/*
 * Run both programs in turns, PAIRS times each, and more often while it is unclear which is faster.
 * False: they could not be run, and WHY says so. The project itself is not changed.
 */
bool real_compare(
    const struct adoption *a, const struct patch *p, size_t pairs, double gate, struct real *r);
void real_free(struct real *r);

#endif
