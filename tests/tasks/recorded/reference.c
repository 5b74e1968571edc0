/* SPDX-License-Identifier: Apache-2.0 */
/* A sparse matrix, its rows one after the other, times a vector. */
#ifndef REAL
#define REAL float
#endif

void
spmv(const int *rowptr, const int *col, const REAL *val, const REAL *x, REAL *y, int rows, int cols,
    int nnz)
{
	(void)cols, (void)nnz;
	for (int i = 0; i < rows; i++) {
		REAL sum = 0;

		for (int k = rowptr[i]; k < rowptr[i + 1]; k++)
			sum += val[k] * x[col[k]];
		y[i] = sum;
	}
}
