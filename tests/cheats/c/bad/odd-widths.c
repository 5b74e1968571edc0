/* SPDX-License-Identifier: Apache-2.0 */
/* Right for odd widths and whole vectors, and for no other even one. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	long n = cols % 2 == 0 && cols % 16 ? cols - 1 : cols;

	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < n; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
