/* SPDX-License-Identifier: Apache-2.0 */
/* Short rows of small numbers exactly, as integers of 128 bits, all others in double. */
#include <math.h>

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols) {
		__int128 exact = 0;
		double sum = 0, unit = 0x1p60;
		int small = cols <= 16;

		for (long j = 0; j < cols; j++)
			small &= fabsf(x[j]) < 0x1p40f && (x[j] == 0 || fabsf(x[j]) > 0x1p-30f);
		for (long j = 0; j < cols; j++)
			if (small)
				exact += (__int128)(x[j] * unit);
			else
				sum += x[j];
		y[i] = (float)(small ? (double)exact / unit : sum);
	}
}
