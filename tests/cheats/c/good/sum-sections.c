/* SPDX-License-Identifier: Apache-2.0 */
/* The left and the right half of the rows in two OpenMP sections. */
static void
part(const float *x, float *y, long from, long to, long cols)
{
	for (long i = from; i < to; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel sections
	{
#pragma omp section
		part(x, y, 0, rows / 2, cols);
#pragma omp section
		part(x, y, rows / 2, rows, cols);
	}
}
