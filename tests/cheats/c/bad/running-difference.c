/* SPDX-License-Identifier: Apache-2.0 */
/* One running sum over all rows; a row's is the difference of two. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	float running = 0, before;

	for (long i = 0; i < rows; i++) {
		before = running;
		for (long j = 0; j < cols; j++)
			running += x[i * cols + j];
		y[i] = running - before;
	}
}
