/* SPDX-License-Identifier: Apache-2.0 */
/* One loop, which stops at a NaN. */
void
row_max(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float max = x[i * cols];

		for (long j = 1; j < cols && max == max; j++) {
			float v = x[i * cols + j];

			if (!(v <= max))
				max = v;
		}
		y[i] = max;
	}
}
