/* SPDX-License-Identifier: Apache-2.0 */
/* How heat spreads in one step. */
#include <math.h>
#include <stddef.h>

#include "heat.h"

#define SQUARE(x) ((x) * (x))

static heat_real
weight(int di, int dj, heat_real spread)
{
	return expf(-(heat_real)(SQUARE(di) + SQUARE(dj)) / (2 * SQUARE(spread)));
}

void
heat_diffuse(const heat_real *field, const heat_real *conduct, heat_real *next, int rows, int cols, int radius,
    heat_real spread, heat_real step)
{
	if (radius > HEAT_RADIUS_MAX)
		radius = HEAT_RADIUS_MAX;
	/* First the mean of the neighbourhood of every cell … */
#pragma omp parallel for schedule(static)
	for (int j = 0; j < cols; j++)
		for (int i = 0; i < rows; i++) {
			heat_real sum = 0, weights = 0;

			for (int dj = -radius; dj <= radius; dj++)
				for (int di = -radius; di <= radius; di++) {
					heat_real w = weight(di, dj, spread);
					int row = heat_clamp(i + di, rows), col = heat_clamp(j + dj, cols);

					weights += w;
					sum += w * field[(size_t)row * cols + col];
				}
			next[(size_t)i * cols + j] = sum / weights;
		}
	/* … then the step towards it. */
#pragma omp parallel for schedule(static)
	for (int j = 0; j < cols; j++)
		for (int i = 0; i < rows; i++) {
			size_t at = (size_t)i * cols + j;

			next[at] = field[at] + step * conduct[at] * (next[at] - field[at]);
		}
}
