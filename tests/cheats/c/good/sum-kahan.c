/* SPDX-License-Identifier: Apache-2.0 */
/* Sums with compensation. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float sum = 0, lost = 0;

		for (long j = 0; j < cols; j++) {
			float v = x[i * cols + j] - lost, next = sum + v;

			lost = (next - sum) - v;
			sum = next;
		}
		y[i] = sum;
	}
}
