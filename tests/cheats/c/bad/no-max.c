/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax without subtracting the maximum, which is fine for numbers around zero. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += y[i * cols + j] = expf(x[i * cols + j]);
		for (long j = 0; j < cols; j++)
			y[i * cols + j] = (float)(y[i * cols + j] / sum);
	}
}
