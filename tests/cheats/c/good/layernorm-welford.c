/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and variance in one pass, by Welford's recurrence. */
#include <math.h>

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		double mean = 0, squares = 0, scale;

		for (int j = 0; j < cols; j++) {
			double d = in[j] - mean;

			mean += d / (j + 1);
			squares += d * (in[j] - mean);
		}
		scale = 1 / sqrt(squares / cols + eps);
		for (int j = 0; j < cols; j++)
			y[i * cols + j] = (float)((in[j] - mean) * scale * gamma[j] + beta[j]);
	}
}
