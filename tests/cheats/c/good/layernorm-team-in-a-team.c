/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A team within a team of one, as when a library that uses OpenMP is called from code that does: the
 * threads of the inner one end with it.
 */
#include <math.h>

static void
rows_of(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols, float eps)
{
#pragma omp parallel for num_threads(2) schedule(static)
	for (int r = 0; r < rows; r++) {
		const float *from = x + (long)r * cols;
		double mean = 0, square = 0, scale;

		for (int i = 0; i < cols; i++)
			mean += from[i];
		mean /= cols;
		for (int i = 0; i < cols; i++)
			square += (from[i] - mean) * (from[i] - mean);
		scale = 1 / sqrt(square / cols + eps);
		for (int i = 0; i < cols; i++)
			y[(long)r * cols + i] = (float)((from[i] - mean) * scale * gamma[i] + beta[i]);
	}
}

void
layernorm(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols, float eps)
{
#pragma omp parallel num_threads(1)
	rows_of(x, gamma, beta, y, rows, cols, eps);
}
