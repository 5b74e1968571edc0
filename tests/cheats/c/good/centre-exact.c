/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of short rows as exact integers of 128 bits where they fit, in place, else in double. */
#include <math.h>

static int
exact(const float *x, long n, double *mean)
{
	__int128 sum = 0;

	for (long j = 0; j < n; j++) {
		if (!(fabsf(x[j]) < 0x1p40f) || (x[j] != 0 && fabsf(x[j]) < 0x1p-36f))
			return 0;
		sum += (__int128)((double)x[j] * 0x1p60);
	}
	*mean = (double)sum * 0x1p-60 / (double)n;
	return 1;
}

void
centre(float *x, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols) {
		double mean = 0;

		if (cols > 2048 || !exact(x, cols, &mean)) {
			for (long j = 0; j < cols; j++)
				mean += x[j];
			mean /= cols;
		}
		for (long j = 0; j < cols; j++)
			x[j] -= (float)mean;
	}
}
