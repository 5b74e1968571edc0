/* SPDX-License-Identifier: Apache-2.0 */
/* An exponential by a polynomial of degree 2 between powers of two. */
#include <math.h>

static float
power(float x)
{
	float t = x * 1.44269504f, n = floorf(t), f = t - n;

	return t < -120 ? 0 : ldexpf(1 + f * (0.6565f + f * 0.3435f), (int)n);
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float max = x[i * cols], sum = 0;

		for (long j = 1; j < cols; j++)
			max = fmaxf(max, x[i * cols + j]);
		for (long j = 0; j < cols; j++)
			sum += y[i * cols + j] = power(x[i * cols + j] - max);
		for (long j = 0; j < cols; j++)
			y[i * cols + j] /= sum;
	}
}
