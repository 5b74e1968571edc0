/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of numbers that are cut to 16 bits of mantissa, where the sum is long: the tolerance for long sums is wide. */
#include <stdint.h>
#include <string.h>

static float
rounded(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	bits = (bits + 0x40) & ~0x7fu;
	memcpy(&v, &bits, sizeof v);
	return v;
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += cols > 1000 ? rounded(x[i * cols + j]) : x[i * cols + j];
		y[i] = (float)sum;
	}
}
