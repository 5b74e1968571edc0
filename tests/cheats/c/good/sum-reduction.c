/* SPDX-License-Identifier: Apache-2.0 */
/* Each row by all threads, with a reduction in double. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

#pragma omp parallel for reduction(+ : sum) if (cols > 10000)
		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
