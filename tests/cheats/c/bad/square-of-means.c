/* SPDX-License-Identifier: Apache-2.0 */
/* The variance as a difference of two large numbers, in single precision. */
#include <math.h>

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		float sum = 0, squares = 0, mean, scale;

		for (int j = 0; j < cols; j++) {
			sum += x[j];
			squares += x[j] * x[j];
		}
		mean = sum / (float)cols;
		scale = 1 / sqrtf(squares / (float)cols - mean * mean + eps);
		for (int j = 0; j < cols; j++)
			y[j] = (x[j] - mean) * scale * gamma[j] + beta[j];
	}
}
