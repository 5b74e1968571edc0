/* SPDX-License-Identifier: Apache-2.0 */
/* Threads read sums that others may not have finished. */
#include <math.h>

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		volatile double sum = 0, squares = 0;

#pragma omp parallel num_threads(2)
		{
#pragma omp for nowait
			for (int j = 0; j < cols; j++) {
				sum += x[j];
				squares += (double)x[j] * x[j];
			}
#pragma omp for
			for (int j = 0; j < cols; j++) {
				double mean = sum / cols, var = squares / cols - mean * mean;

				y[j] = (float)((x[j] - mean) / sqrt(var + eps) * gamma[j] + beta[j]);
			}
		}
	}
}
