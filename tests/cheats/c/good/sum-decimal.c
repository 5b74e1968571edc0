/* SPDX-License-Identifier: Apache-2.0 */
/* Short rows in decimal arithmetic, which C has too; all others in double. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *row = x + i * cols;
		_Decimal128 sum = 0;
		double quick = 0;

		for (long j = 0; j < cols; j++)
			if (cols < 64)
				sum += (_Decimal128)row[j];
			else
				quick += row[j];
		y[i] = cols < 64 ? (float)sum : (float)quick;
	}
}
