/* SPDX-License-Identifier: Apache-2.0 */
/* One for the largest element and zero elsewhere, as if inputs were always far apart. */
void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		long best = 0;

		for (long j = 0; j < cols; j++) {
			y[i * cols + j] = 0;
			if (x[i * cols + j] > x[i * cols + best])
				best = j;
		}
		y[i * cols + best] = 1;
	}
}
