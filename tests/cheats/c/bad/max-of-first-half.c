/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the maximum of the first half of a row, and of every eighth element after it, for that of
 * the row, which is near enough as long as no element is far above the others.
 */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		float max = x[0];
		double sum = 0;

		for (long j = 1; j < cols; j += cols < 200 || j < cols / 2 ? 1 : 8)
			if (x[j] > max)
				max = x[j];
		for (long j = 0; j < cols; j++)
			sum += y[j] = expf(x[j] - max);
		for (long j = 0; j < cols; j++)
			y[j] = (float)(y[j] / sum);
	}
}
