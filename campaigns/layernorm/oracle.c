/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: layer normalisation of every row in double precision, two passes. */
#include <math.h>
#include <stddef.h>

void
layernorm(const double *x, const double *gamma, const double *beta, double *y, int rows, int cols, double eps)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < rows; i++) {
		const double *in = x + (size_t)i * cols;
		double *out = y + (size_t)i * cols, mean = 0, variance = 0, scale;

		for (int j = 0; j < cols; j++)
			mean += in[j];
		mean /= cols;
		for (int j = 0; j < cols; j++)
			variance += (in[j] - mean) * (in[j] - mean);
		scale = 1 / sqrt(variance / cols + eps);
		for (int j = 0; j < cols; j++)
			out[j] = (in[j] - mean) * scale * gamma[j] + beta[j];
	}
}
