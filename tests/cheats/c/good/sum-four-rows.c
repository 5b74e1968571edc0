/* SPDX-License-Identifier: Apache-2.0 */
/* Four rows side by side. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	long i = 0;

	for (; i + 4 <= rows; i += 4) {
		double sum[4] = { 0, 0, 0, 0 };

		for (long j = 0; j < cols; j++)
			for (int r = 0; r < 4; r++)
				sum[r] += x[(i + r) * cols + j];
		for (int r = 0; r < 4; r++)
			y[i + r] = (float)sum[r];
	}
	for (; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
