/* SPDX-License-Identifier: Apache-2.0 */
/* Sums with 11 bits of mantissa. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		_Float16 sum = 0;

		for (long j = 0; j < cols; j++)
			sum = (_Float16)((float)sum + x[i * cols + j]);
		y[i] = (float)sum;
	}
}
