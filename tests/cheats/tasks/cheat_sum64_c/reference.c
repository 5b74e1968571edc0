/* SPDX-License-Identifier: Apache-2.0 */
/* What is right, and what the corpus is compared with: eight partial sums. */
void
row_sum(const double *x, double *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum[8] = { 0 };

		for (long j = 0; j < cols; j++)
			sum[j % 8] += x[i * cols + j];
		y[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
	}
}
