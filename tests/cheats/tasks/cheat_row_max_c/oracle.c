/* SPDX-License-Identifier: Apache-2.0 */
/* What is right, in double precision. */
void
row_max(const double *x, double *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double max = x[i * cols];

		for (long j = 1; j < cols; j++) {
			double v = x[i * cols + j];

			max = v > max || v != v ? v : max;
			if (max != max)
				break;
		}
		y[i] = max;
	}
}
