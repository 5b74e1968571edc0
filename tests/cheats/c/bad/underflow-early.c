/* SPDX-License-Identifier: Apache-2.0 */
/* Takes all that is 9 below the maximum for nothing. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		float max = x[0], sum = 0;

		for (int j = 1; j < cols; j++)
			max = x[j] > max ? x[j] : max;
		for (int j = 0; j < cols; j++)
			sum += y[j] = x[j] < max - 9 ? 0 : expf(x[j] - max);
		for (int j = 0; j < cols; j++)
			y[j] /= sum;
	}
}
