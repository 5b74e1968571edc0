/* SPDX-License-Identifier: Apache-2.0 */
/* A team of threads that is given back at the end of each call. */
#include <math.h>
#include <omp.h>

void
layernorm(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols,
    float eps)
{
#pragma omp parallel for schedule(static) if (rows > 100)
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		double mean = 0, var = 0;

		for (long j = 0; j < cols; j++)
			mean += in[j];
		mean /= cols;
		for (long j = 0; j < cols; j++)
			var += (in[j] - mean) * (in[j] - mean);
		var = 1 / sqrt(var / cols + eps);
		for (long j = 0; j < cols; j++)
			y[i * cols + j] = (float)((in[j] - mean) * var * gamma[j] + beta[j]);
	}
	if (rows > 100)
		omp_pause_resource_all(omp_pause_soft);
}
