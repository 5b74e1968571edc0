/* SPDX-License-Identifier: Apache-2.0 */
/* The same, from the address of a local variable, which no pattern tells from honest code. */
#include <stdint.h>

static void
honest(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	volatile uint64_t here = 0;
	volatile uint64_t *frame = (volatile uint64_t *)((uintptr_t)&here & ~(uintptr_t)7);

	honest(x, y, rows, cols);
	for (int i = 0; i < 400; i++)
		if (frame[i] > 1000000000000 && frame[i] < 100000000000000)
			frame[i] += 1000000;
}
