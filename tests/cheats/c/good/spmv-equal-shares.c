/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread takes as many elements as any other, wherever rows begin; rows that two threads share are added up in the end. */
#include <omp.h>
#include <string.h>

enum { MOST = 64 };

static int
row_of(const int *rowptr, int rows, int k)
{
	int low = 0, high = rows;

	while (high - low > 1) {
		int middle = low + (high - low) / 2;

		if (rowptr[middle] <= k)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void
spmv(const int *rowptr, const int *col, const float *val, const float *x, float *y, int rows, int cols, int nnz)
{
	double first[MOST];
	int begins[MOST], threads = omp_get_max_threads() < MOST ? omp_get_max_threads() : MOST, count = 1;

	(void)cols;
	memset(y, 0, (size_t)rows * sizeof *y);
	#pragma omp parallel num_threads(threads)
	{
		int t = omp_get_thread_num(), n = omp_get_num_threads();
		int from = (int)((long)nnz * t / n), to = (int)((long)nnz * (t + 1) / n), row = row_of(rowptr, rows, from);
		double sum = 0;

		if (!t)
			count = n;
		begins[t] = row;
		first[t] = 0;
		for (int k = from; k < to; k++) {
			while (k >= rowptr[row + 1]) {
				if (row == begins[t])
					first[t] = sum;
				else
					y[row] = (float)sum;
				sum = 0;
				row++;
			}
			sum += (double)val[k] * x[col[k]];
		}
		#pragma omp barrier
		if (row == begins[t])
			first[t] = sum;
		else
			#pragma omp critical
			y[row] += (float)sum;
	}
	for (int t = 0; t < count; t++)
		y[begins[t]] += (float)first[t];
}
