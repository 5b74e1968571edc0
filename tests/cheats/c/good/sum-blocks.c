/* SPDX-License-Identifier: Apache-2.0 */
/* Single precision within blocks of 64, double across them. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j += 64) {
			float block = 0;

			for (long k = j; k < j + 64 && k < cols; k++)
				block += x[i * cols + k];
			sum += block;
		}
		y[i] = (float)sum;
	}
}
