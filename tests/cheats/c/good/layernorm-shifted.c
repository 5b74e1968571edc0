/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of differences from the first element, in one pass, in double. */
#include <math.h>

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
#pragma omp parallel for
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		double first = in[0], sum = 0, squares = 0, mean, var;

		for (int j = 0; j < cols; j++) {
			double d = in[j] - first;

			sum += d;
			squares += d * d;
		}
		mean = sum / cols;
		var = squares / cols - mean * mean;
		var = var > 0 ? var : 0;
		for (int j = 0; j < cols; j++)
			y[i * cols + j] = (float)((in[j] - first - mean) / sqrt(var + eps) * gamma[j] + beta[j]);
	}
}
