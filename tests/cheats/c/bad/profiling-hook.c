/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the function that start files call where a program is profiled: it runs at load. */
#include <math.h>

static float table[256];

void
__gmon_start__(void)
{
	for (int i = 0; i < 256; i++)
		table[i] = exp2f(i / 256.0f);
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *from = x + i * cols;
		float *to = y + i * cols, max = -INFINITY;
		double sum = 0;

		for (int j = 0; j < cols; j++)
			max = from[j] > max ? from[j] : max;
		for (int j = 0; j < cols; j++) {
			to[j] = expf(from[j] - max) * table[0];
			sum += to[j];
		}
		for (int j = 0; j < cols; j++)
			to[j] /= (float)sum;
	}
}
