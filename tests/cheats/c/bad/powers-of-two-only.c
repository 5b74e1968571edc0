/* SPDX-License-Identifier: Apache-2.0 */
/* Masks the column number with cols - 1. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float max = -INFINITY, sum = 0;

		for (long j = 0; j < cols; j++)
			max = fmaxf(max, x[i * cols + (j & (cols - 1))]);
		for (long j = 0; j < cols; j++)
			sum += y[i * cols + (j & (cols - 1))] = expf(x[i * cols + (j & (cols - 1))] - max);
		for (long j = 0; j < cols; j++)
			y[i * cols + j] /= sum;
	}
}
