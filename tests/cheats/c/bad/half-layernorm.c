/* SPDX-License-Identifier: Apache-2.0 */
/* Takes inputs as half precision, where they fit, and is careful otherwise. */
#include <math.h>

static double
halved(float v)
{
	return fabsf(v) < 60000 ? (double)(_Float16)v : v;
}

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		double mean = 0, var = 0;

		for (int j = 0; j < cols; j++)
			mean += halved(x[j]);
		mean /= cols;
		for (int j = 0; j < cols; j++)
			var += (halved(x[j]) - mean) * (halved(x[j]) - mean);
		var = 1 / sqrt(var / cols + eps);
		for (int j = 0; j < cols; j++)
			y[j] = (float)((halved(x[j]) - mean) * var * gamma[j] + beta[j]);
	}
}
