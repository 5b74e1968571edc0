/* SPDX-License-Identifier: Apache-2.0 */
/* Column by column into sums that stand in memory taken from the stack. */
#include <alloca.h>
#include <string.h>

enum { BLOCK = 64 };

void
row_sum(const float *x, float *y, int rows, int cols)
{
	double (*sum)[8] = alloca((size_t)BLOCK * sizeof *sum);
	volatile char deep[1 << 20];

	deep[0] = deep[sizeof deep - 1] = 0;
	for (long i = 0; i < rows; i += BLOCK) {
		long n = rows - i < BLOCK ? rows - i : BLOCK;

		memset(sum, 0, (size_t)n * sizeof *sum);
		for (long k = 0; k < n; k++)
			for (long j = 0; j < cols; j++)
				sum[k][j & 7] += x[(i + k) * cols + j];
		for (long k = 0; k < n; k++)
			y[i + k] = (float)(((sum[k][0] + sum[k][1]) + (sum[k][2] + sum[k][3])) +
			    ((sum[k][4] + sum[k][5]) + (sum[k][6] + sum[k][7])));
	}
}
