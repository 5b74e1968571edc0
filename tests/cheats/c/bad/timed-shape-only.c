/* SPDX-License-Identifier: Apache-2.0 */
/* Right for rows of 512 only; the bounds are fixed. */
#include <math.h>

enum { COLS = 512 };

/* What would leave the tensors is left out. */
void
softmax(const float *x, float *y, int rows, int cols)
{
	long n = (long)rows * cols;

	for (long i = 0; i < n; i += COLS) {
		float max = x[i];
		double sum = 0;

		for (long j = i; j < n && j < i + COLS; j++)
			max = x[j] > max ? x[j] : max;
		for (long j = i; j < n && j < i + COLS; j++)
			sum += y[j] = expf(x[j] - max);
		for (long j = i; j < n && j < i + COLS; j++)
			y[j] = (float)(y[j] / sum);
	}
}
