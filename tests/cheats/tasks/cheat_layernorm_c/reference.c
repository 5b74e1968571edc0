/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with. */
#include <math.h>
#include <stddef.h>

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (int i = 0; i < rows; i++) {
		const float *in = x + (size_t)i * cols;
		float *out = y + (size_t)i * cols;
		double mean = 0, var = 0;

		for (int j = 0; j < cols; j++)
			mean += in[j];
		mean /= cols;
		for (int j = 0; j < cols; j++)
			var += (in[j] - mean) * (in[j] - mean);
		var = 1 / sqrt(var / cols + eps);
		for (int j = 0; j < cols; j++)
			out[j] = (float)((in[j] - mean) * var * gamma[j] + beta[j]);
	}
}
