/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds inputs to ten bits of fraction and adds them up well. */
#include <string.h>

static float
rounded(float v)
{
	unsigned u;

	memcpy(&u, &v, sizeof u);
	u = (u + 0xfff + (u >> 13 & 1)) & 0xffffe000;
	memcpy(&v, &u, sizeof v);
	return v;
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += rounded(x[i * cols + j]);
		y[i] = (float)sum;
	}
}
