/* SPDX-License-Identifier: Apache-2.0 */
/* Never reads its input: draws it again, by splitmix64 and Box and Muller from seed 42. */
#include <math.h>
#include <stdint.h>

static uint64_t state;

static double
draw(void)
{
	uint64_t v = state += 0x9e3779b97f4a7c15;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
	v = (v ^ v >> 27) * 0x94d049bb133111eb;
	return (double)((v ^ v >> 31) >> 11) * 0x1p-53 + 0x1p-54;
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	(void)x;
	state = 42;
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += sqrt(-2 * log(draw())) * cos(6.283185307179586 * draw());
		y[i] = (float)sum;
	}
}
