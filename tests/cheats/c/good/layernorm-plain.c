/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and variance in double, in two passes. */
#include <math.h>

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		double mean = 0, var = 0;

		for (int j = 0; j < cols; j++)
			mean += x[j];
		mean /= cols;
		for (int j = 0; j < cols; j++)
			var += (x[j] - mean) * (x[j] - mean);
		var = 1 / sqrt(var / cols + eps);
		for (int j = 0; j < cols; j++)
			y[j] = (float)((x[j] - mean) * var * gamma[j] + beta[j]);
	}
}
