/* SPDX-License-Identifier: Apache-2.0 */
/* Any offset near the maximum will do: that of every eighth element, and the true one where the sum shows that it was too low. */
#include <math.h>

static double
exponentials(const float *x, float *y, long n, float offset)
{
	double sum = 0;

	for (long j = 0; j < n; j++)
		sum += y[j] = expf(x[j] - offset);
	return sum;
}

static float
largest(const float *x, long n, long step)
{
	float max = x[0];

	for (long j = step; j < n; j += step)
		max = x[j] > max ? x[j] : max;
	return max;
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		double sum = exponentials(x, y, cols, largest(x, cols, 8));

		if (!(sum < 1e30))
			sum = exponentials(x, y, cols, largest(x, cols, 1));
		for (long j = 0; j < cols; j++)
			y[j] = (float)(y[j] / sum);
	}
}
