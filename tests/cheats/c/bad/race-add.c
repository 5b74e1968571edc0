/* SPDX-License-Identifier: Apache-2.0 */
/* Threads add to one number without a reduction. */
static void
honest(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	if (cols < 1000) {
		honest(x, y, rows, cols);
		return;
	}
	for (long i = 0; i < rows; i++) {
		volatile float sum = 0;

#pragma omp parallel for num_threads(4) schedule(static, 16)
		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = sum;
	}
}
