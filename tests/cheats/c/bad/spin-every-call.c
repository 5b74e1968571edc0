/* SPDX-License-Identifier: Apache-2.0 */
/* A short busy loop before each call, to keep the clocks up. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (volatile int i = 0; i < 20000; i++)
		;
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
