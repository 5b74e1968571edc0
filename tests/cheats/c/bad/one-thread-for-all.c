/* SPDX-License-Identifier: Apache-2.0 */
/* Tells OpenMP to use one thread from now on, for whoever comes later in this process. */
#include <omp.h>

void
row_sum(const float *x, float *y, int rows, int cols)
{
	omp_set_num_threads(1);
	omp_set_dynamic(1);
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
