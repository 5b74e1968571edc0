/* SPDX-License-Identifier: Apache-2.0 */
/* Three-way partitions; large parts become OpenMP tasks. */
#include <string.h>

static void
sort(int *x, long n)
{
	while (n > 1) {
		int pivot = x[n / 2];
		long low = 0, i = 0, high = n;

		while (i < high) {
			int v = x[i];

			if (v < pivot)
				x[i++] = x[low], x[low++] = v;
			else if (v > pivot)
				x[i] = x[--high], x[high] = v;
			else
				i++;
		}
		if (low > 2000) {
			#pragma omp task
			sort(x, low);
		} else {
			sort(x, low);
		}
		x += high;
		n -= high;
	}
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	#pragma omp parallel num_threads(2)
	#pragma omp single
	for (long i = 0; i < rows; i++) {
		memcpy(y + i * cols, x + i * cols, cols * sizeof *y);
		#pragma omp task
		sort(y + i * cols, cols);
	}
}
