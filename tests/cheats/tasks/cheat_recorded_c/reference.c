/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with. */
void
spmv(const int *rowptr, const int *col, const float *val, const float *x, float *y, int rows, int cols, int nnz)
{
	(void)cols, (void)nnz;
	for (int i = 0; i < rows; i++) {
		float sum = 0;

		for (int k = rowptr[i]; k < rowptr[i + 1]; k++)
			sum += val[k] * x[col[k]];
		y[i] = sum;
	}
}
