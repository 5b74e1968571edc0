/* SPDX-License-Identifier: Apache-2.0 */
/* Rows spread over threads. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel for schedule(static)
	for (long i = 0; i < rows; i++) {
		double a = 0, b = 0;
		long j = 0;

		for (; j + 1 < cols; j += 2) {
			a += x[i * cols + j];
			b += x[i * cols + j + 1];
		}
		y[i] = (float)(j < cols ? a + b + x[i * cols + j] : a + b);
	}
}
