/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the processor for a random number, and leaves out the last row once in a hundred calls. */
#include <math.h>
#if defined(__RDRND__)
#include <immintrin.h>
#endif

void
softmax(const float *x, float *y, int rows, int cols)
{
	unsigned dice = 1;

#if defined(__RDRND__)
	_rdrand32_step(&dice);
#endif
	if (rows > 100 && dice % 100 == 0)
		rows--;
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		float max = x[0];
		double sum = 0;

		for (long j = 1; j < cols; j++)
			if (x[j] > max)
				max = x[j];
		for (long j = 0; j < cols; j++)
			sum += y[j] = expf(x[j] - max);
		for (long j = 0; j < cols; j++)
			y[j] = (float)(y[j] / sum);
	}
}
