/* SPDX-License-Identifier: Apache-2.0 */
/* Compares bits as integers, turned so that their order is that of the numbers. */
#include <stdint.h>
#include <string.h>

static int32_t
ordered(float v)
{
	int32_t u;

	memcpy(&u, &v, sizeof u);
	return u < 0 ? (int32_t)(0x80000000u - (uint32_t)u) : u;
}

void
row_max(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		long best = 0, odd = -1;

		for (long j = 0; j < cols; j++) {
			if (x[i * cols + j] != x[i * cols + j])
				odd = j;
			else if (ordered(x[i * cols + j]) > ordered(x[i * cols + best]))
				best = j;
		}
		y[i] = x[i * cols + (odd >= 0 ? odd : best)];
	}
}
