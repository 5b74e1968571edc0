/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgrad: the gradient at a cell: a weighted sum of what score differences say (F), what success
 * rates say (R), and where the grid is still empty or poor (E).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kgrad.h"

static int
sign(int v)
{
	return (v > 0) - (v < 0);
}

void
fitness_part(struct cell *cell)
{
	for (int d = 0; d < KARCH_DIMS; d++)
		cell->fitness[d] = cell->weight[d] > 1e-12 ? cell->sum[d] / cell->weight[d] : 0;
}

/*
 * Signed success rates, summed over the directions tried often enough, and scaled down when one
 * exceeds 1.
 */
void
rate_part(struct cell *cell)
{
	/* One or two tries say little about a direction. */
	static const long min_samples = 3;
	double most = 1;

	memset(cell->rates, 0, sizeof cell->rates);
	for (size_t i = 0; i < cell->count; i++) {
		const struct direction *v = &cell->directions[i];

		for (int d = 0; d < KARCH_DIMS && v->samples >= min_samples; d++)
			cell->rates[d] +=
			    sign(v->step[d]) * (double)v->successes / (double)v->samples;
	}
	for (int d = 0; d < KARCH_DIMS; d++)
		most = fmax(most, fabs(cell->rates[d]));
	for (int d = 0; d < KARCH_DIMS; d++)
		cell->rates[d] /= most;
}

void
pulls(const struct karch *archive, double pull[KARCH_CELLS])
{
	double median = karch_median(archive), top = fmax(1, karch_top(archive));

	for (int c = 0; c < KARCH_CELLS; c++) {
		const struct karch_row *elite = archive->elite[c];

		pull[c] = !elite ? 1 : elite->score < median ? top - elite->score : 0;
	}
}

/* Every pull counts inversely to its distance; the sum has length 1. */
static void
exploration_part(int from, const double pull[KARCH_CELLS], double out[KARCH_DIMS])
{
	double norm = 0;

	memset(out, 0, KARCH_DIMS * sizeof *out);
	for (int to = 0; to < KARCH_CELLS; to++) {
		int step[KARCH_DIMS], distance = 0;

		if (pull[to] <= 0 || to == from)
			continue;
		for (int d = 0; d < KARCH_DIMS; d++) {
			step[d] = karch_level(to, d) - karch_level(from, d);
			distance += abs(step[d]);
		}
		for (int d = 0; d < KARCH_DIMS; d++)
			out[d] += sign(step[d]) * (pull[to] / distance);
	}
	for (int d = 0; d < KARCH_DIMS; d++)
		norm += out[d] * out[d];
	for (int d = 0; d < KARCH_DIMS && norm > 0; d++)
		out[d] /= sqrt(norm);
}

void
slope(const struct cell *cell, int at, const double pull[KARCH_CELLS], double out[KARCH_DIMS])
{
	/* What was measured counts twice as much as what was never tried. */
	static const double f = 0.4, r = 0.4, e = 0.2;
	double exploration[KARCH_DIMS];

	memset(out, 0, KARCH_DIMS * sizeof *out);
	if (!cell->departures)
		return;
	exploration_part(at, pull, exploration);
	for (int d = 0; d < KARCH_DIMS; d++)
		out[d] = f * cell->fitness[d] + r * cell->rates[d] + e * exploration[d];
}
