/* SPDX-License-Identifier: Apache-2.0 */
/* Sums in long double. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	while (rows-- > 0) {
		long double sum = 0;

		for (const float *end = x + cols; x < end; x++)
			sum += *x;
		*y++ = (float)sum;
	}
}
