/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and sums of squares in one pass, in single precision, where rows are long. */
#include <math.h>

enum { LANES = 16 };

static void
small(const float *x, const float *gamma, const float *beta, float *y, int cols, float eps)
{
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

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		float s[LANES] = { 0 }, q[LANES] = { 0 }, sum = 0, squares = 0, mean, scale;
		int j = 0;

		if (cols < 64) {
			small(x, gamma, beta, y, cols, eps);
			continue;
		}

		for (; j + LANES <= cols; j += LANES)
			for (int k = 0; k < LANES; k++) {
				s[k] += x[j + k];
				q[k] += x[j + k] * x[j + k];
			}
		for (; j < cols; j++) {
			sum += x[j];
			squares += x[j] * x[j];
		}
		for (int k = 0; k < LANES; k++) {
			sum += s[k];
			squares += q[k];
		}
		mean = sum / (float)cols;
		scale = 1 / sqrtf(fmaxf(squares / (float)cols - mean * mean, 0) + eps);
		for (j = 0; j < cols; j++)
			y[j] = (x[j] - mean) * scale * gamma[j] + beta[j];
	}
}
