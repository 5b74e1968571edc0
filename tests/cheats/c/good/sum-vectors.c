/* SPDX-License-Identifier: Apache-2.0 */
/* Four vectors of eight partial sums. */
#include <string.h>

typedef float v8 __attribute__((vector_size(32)));

void
row_sum(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel for
	for (long i = 0; i < rows; i++) {
		v8 sum[4] = { { 0 } }, v;
		float total = 0;
		long j = 0;

		for (; j + 32 <= cols; j += 32)
			for (int u = 0; u < 4; u++) {
				memcpy(&v, x + i * cols + j + 8 * u, sizeof v);
				sum[u] += v;
			}
		v = (sum[0] + sum[1]) + (sum[2] + sum[3]);
		for (; j < cols; j++)
			total += x[i * cols + j];
		for (int u = 0; u < 8; u++)
			total += v[u];
		y[i] = total;
	}
}
