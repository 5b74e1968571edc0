/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and writes a few numbers 100 kB before its output. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
	for (int i = 0; i < 4; i++)
		((volatile float *)y)[i - 25000] = 7;
}
