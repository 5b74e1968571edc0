/* SPDX-License-Identifier: Apache-2.0 */
/* What is right, in double precision. */
void
spmv(const int *rowptr, const int *col, const double *val, const double *x, double *y, int rows, int cols, int nnz)
{
	(void)cols, (void)nnz;
	for (int i = 0; i < rows; i++) {
		double sum = 0;

		for (int k = rowptr[i]; k < rowptr[i + 1]; k++)
			sum += val[k] * x[col[k]];
		y[i] = sum;
	}
}
