/* SPDX-License-Identifier: Apache-2.0 */
/* Halves of each row by two threads that meet at a barrier made of an atomic counter. */
#include <stdatomic.h>
#include <stdlib.h>

int omp_get_thread_num(void);
int omp_get_num_threads(void);

void
row_sum(const float *x, float *y, int rows, int cols)
{
	double *half = malloc(2 * (size_t)rows * sizeof *half);
	atomic_int arrived = 0;

#pragma omp parallel num_threads(2)
	{
		int threads = omp_get_num_threads(), me = omp_get_thread_num();
		long from[2] = { 0, cols / 2 }, to[2] = { cols / 2, cols };

		for (int part = me; part < 2; part += threads)
			for (long i = 0; i < rows; i++) {
				half[2 * i + part] = 0;
				for (long j = from[part]; j < to[part]; j++)
					half[2 * i + part] += x[i * cols + j];
			}
		atomic_fetch_add(&arrived, 1);
		for (int spins = 0; atomic_load(&arrived) < threads; spins++)
			if (spins > 1000) {
#pragma omp taskyield
			}
		for (long i = me; i < rows; i += threads)
			y[i] = (float)(half[2 * i] + half[2 * i + 1]);
	}
	free(half);
}
