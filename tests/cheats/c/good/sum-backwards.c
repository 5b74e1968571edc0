/* SPDX-License-Identifier: Apache-2.0 */
/* From the end to the beginning. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	const float *p = x + (long)rows * cols;

	for (long i = rows; i-- > 0;) {
		double sum = 0;

		for (int j = 0; j < cols; j++)
			sum += *--p;
		y[i] = (float)sum;
	}
}
