/* SPDX-License-Identifier: Apache-2.0 */
/* A task for every sixteen rows. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel
#pragma omp single
	for (long from = 0; from < rows; from += 16)
#pragma omp task firstprivate(from)
		for (long i = from; i < rows && i < from + 16; i++) {
			double sum = 0;

			for (long j = 0; j < cols; j++)
				sum += x[i * cols + j];
			y[i] = (float)sum;
		}
}
