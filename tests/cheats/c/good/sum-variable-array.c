/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer to an array of variable length, and sums of columns of a tile. */
enum { LANES = 16 };

void
row_sum(const float *x, float *y, int rows, int cols)
{
	const float(*in)[cols] = (const float(*)[cols])x;

	for (long i = 0; i < rows; i++) {
		double part[LANES] = { 0 }, sum = 0;
		long j = 0;

		for (; j + LANES <= cols; j += LANES)
			for (int l = 0; l < LANES; l++)
				part[l] += in[i][j + l];
		for (; j < cols; j++)
			sum += in[i][j];
		for (int l = 0; l < LANES; l++)
			sum += part[l];
		y[i] = (float)sum;
	}
}
