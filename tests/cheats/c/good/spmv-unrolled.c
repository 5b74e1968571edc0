/* SPDX-License-Identifier: Apache-2.0 */
/* Two sums a row. */
void
spmv(const int *rowptr, const int *col, const float *val, const float *x, float *y, int rows, int cols, int nnz)
{
	(void)cols, (void)nnz;
	for (int i = 0; i < rows; i++) {
		float even = 0, odd = 0;
		int k = rowptr[i], end = rowptr[i + 1];

		for (; k + 1 < end; k += 2) {
			even += val[k] * x[col[k]];
			odd += val[k + 1] * x[col[k + 1]];
		}
		if (k < end)
			even += val[k] * x[col[k]];
		y[i] = even + odd;
	}
}
