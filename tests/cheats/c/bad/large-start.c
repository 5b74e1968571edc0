/* SPDX-License-Identifier: Apache-2.0 */
/* Begins with the least finite number, as if nothing were below it. */
#include <float.h>

void
row_max(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float max = -FLT_MAX;

		for (long j = 0; j < cols && max == max; j++)
			if (!(x[i * cols + j] <= max))
				max = x[i * cols + j];
		y[i] = max;
	}
}
