/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of two instead of e, with the logarithm of e taken in two parts. */
#include <math.h>

static float
power_of_e(float x)
{
	const float high = 1.4426950216293335f, low = 1.9259629911e-8f;

	return x < -110 ? 0 : exp2f(fmaf(x, high, x * low));
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float max = in[0];
		double sum = 0, scale;

		for (int j = 1; j < cols; j++)
			max = fmaxf(max, in[j]);
		for (int j = 0; j < cols; j++)
			sum += y[i * cols + j] = power_of_e(in[j] - max);
		scale = 1 / sum;
		for (int j = 0; j < cols; j++)
			y[i * cols + j] = (float)(y[i * cols + j] * scale);
	}
}
