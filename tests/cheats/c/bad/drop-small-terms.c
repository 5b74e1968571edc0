/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves out what is small next to the sum so far, in blocks of eight, unread but for their
 * first.
 */
#include <math.h>

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j += 8)
			if (fabs(x[i * cols + j]) * 64 > fabs(sum))
				for (long k = j; k < cols && k < j + 8; k++)
					sum += x[i * cols + k];
		y[i] = (float)sum;
	}
}
