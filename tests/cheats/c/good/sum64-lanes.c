/* SPDX-License-Identifier: Apache-2.0 */
/* Eight partial sums of every row. */
void
row_sum(const double *x, double *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols) {
		double v[8] = { 0 };
		int j = 0;

		for (; j + 8 <= cols; j += 8)
			for (int k = 0; k < 8; k++)
				v[k] += x[j + k];
		for (; j < cols; j++)
			v[0] += x[j];
		y[i] = v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];
	}
}
