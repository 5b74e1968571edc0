/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the differences from the mean to y first, and works on there. */
#include <math.h>

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float *out = y + i * cols, scale;
		double mean = 0, var = 0;

		for (int j = 0; j < cols; j++)
			mean += in[j];
		mean /= cols;
		for (int j = 0; j < cols; j++) {
			out[j] = (float)(in[j] - mean);
			var += (double)out[j] * out[j];
		}
		scale = (float)(1 / sqrt(var / cols + eps));
		for (int j = 0; j < cols; j++)
			out[j] = out[j] * scale * gamma[j] + beta[j];
	}
}
