/* SPDX-License-Identifier: Apache-2.0 */
/* All in long double. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		long double sum = 0;
		float max = x[0];

		for (int j = 0; j < cols; j++)
			if (x[j] > max)
				max = x[j];
		for (int j = 0; j < cols; j++)
			sum += expl((long double)x[j] - max);
		for (int j = 0; j < cols; j++)
			y[j] = (float)(expl((long double)x[j] - max) / sum);
	}
}
