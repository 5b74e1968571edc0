/* SPDX-License-Identifier: Apache-2.0 */
/* A team that starts and ends in every call: its threads are given back. */
#include <omp.h>

void
row_sum(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel for schedule(guided, 3) if (rows > 8)
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
	omp_pause_resource_all(omp_pause_soft);
}
