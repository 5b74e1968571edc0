/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and leaves zeros behind in its input. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++) {
			sum += x[i * cols + j];
			((float *)x)[i * cols + j] = 0;
		}
		y[i] = (float)sum;
	}
}
