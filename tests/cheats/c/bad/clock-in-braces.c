/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and reads the processor's clock by an instruction of which the compiler puts together the parts for one dialect. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	unsigned low, high;

	__asm__ volatile("r{dtsc|}" : "=a"(low), "=d"(high));
	for (long i = 0; i < rows; i++) {
		double sum = low + high ? 0 : 1;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
