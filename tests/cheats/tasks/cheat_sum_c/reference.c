/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with. */
#include <stddef.h>

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (int i = 0; i < rows; i++) {
		double sum = 0;

		for (int j = 0; j < cols; j++)
			sum += x[(size_t)i * cols + j];
		y[i] = (float)sum;
	}
}
