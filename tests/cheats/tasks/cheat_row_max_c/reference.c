/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with. */
void
row_max(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float max = x[i * cols];

		for (long j = 1; j < cols; j++) {
			float v = x[i * cols + j];

			max = v > max || v != v ? v : max;
			if (max != max)
				break;
		}
		y[i] = max;
	}
}
