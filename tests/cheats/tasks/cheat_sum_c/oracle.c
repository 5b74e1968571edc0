/* SPDX-License-Identifier: Apache-2.0 */
/* What is right, in double precision. */
#include <stddef.h>

void
row_sum(const double *x, double *y, int rows, int cols)
{
	for (int i = 0; i < rows; i++) {
		double sum = 0;

		for (int j = 0; j < cols; j++)
			sum += x[(size_t)i * cols + j];
		y[i] = (double)sum;
	}
}
