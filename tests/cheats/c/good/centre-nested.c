/* SPDX-License-Identifier: Apache-2.0 */
/* Nested functions that share the row, and a variable array of partial sums. */
void
centre(float *x, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float *row = x + i * cols;
		int parts = (cols + 63) / 64;
		double part[parts];
		double total(void)
		{
			double s = 0;

			for (int p = 0; p < parts; p++)
				s += part[p];
			return s;
		}
		void take(double m)
		{
			for (int j = 0; j < cols; j++)
				row[j] = (float)(row[j] - m);
		}

		for (int p = 0; p < parts; p++) {
			part[p] = 0;
			for (int j = 64 * p; j < cols && j < 64 * p + 64; j++)
				part[p] += row[j];
		}
		take(total() / cols);
	}
}
