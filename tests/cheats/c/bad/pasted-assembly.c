/* SPDX-License-Identifier: Apache-2.0 */
/* A system call in inline assembly whose every word is pasted or macro-made. */
#define J(a, b) a##b
#define INLINE J(__as, m__)
#define TEXT "sys" LATER
#define LATER "call"

void
row_sum(const float *x, float *y, int rows, int cols)
{
	long number = 39;

	INLINE volatile (TEXT : "+a" (number) : : "rcx", "r11", "memory");
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
