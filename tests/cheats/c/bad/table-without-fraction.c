/* SPDX-License-Identifier: Apache-2.0 */
/* An exponential from a table of 256 steps, with nothing between them. */
#include <math.h>

static float table[4096];

void
softmax(const float *x, float *y, int rows, int cols)
{
	if (table[0] == 0)
		for (int i = 0; i < 4096; i++)
			table[i] = expf(-(float)i / 256);
	for (long i = 0; i < rows; i++) {
		float max = x[i * cols], sum = 0;

		for (long j = 1; j < cols; j++)
			max = fmaxf(max, x[i * cols + j]);
		for (long j = 0; j < cols; j++) {
			float d = (max - x[i * cols + j]) * 256;

			sum += y[i * cols + j] = d < 4096 ? table[(int)d] : 0;
		}
		for (long j = 0; j < cols; j++)
			y[i * cols + j] /= sum;
	}
}
