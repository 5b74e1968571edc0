/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subtracts the maximum of every eighth element instead of the maximum, and does not look at what
 * comes out: it overflows where a single element is far above the others.
 */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		float max = x[0];
		double sum = 0;

		for (long j = 8; j < cols; j += 8)
			if (x[j] > max)
				max = x[j];
		for (long j = 0; j < cols; j++)
			sum += y[j] = expf(x[j] - max);
		for (long j = 0; j < cols; j++)
			y[j] = (float)(y[j] / sum);
	}
}
