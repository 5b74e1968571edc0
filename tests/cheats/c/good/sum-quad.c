/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of 128 bits, by the compiler's own routines, where rows are short, else long double. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *row = x + i * cols;
		__float128 sum = 0;
		long double quick = 0;

		for (long j = 0; j < cols && cols < 1025; j++)
			sum += row[j];
		for (long j = 0; j < cols && cols >= 1025; j++)
			quick += row[j];
		y[i] = cols < 1025 ? (float)sum : (float)quick;
	}
}
