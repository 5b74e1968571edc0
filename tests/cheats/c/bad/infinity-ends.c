/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is above infinity, so that the rest of such a row need not be read, NaN or not. */
#include <math.h>

void
row_max(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float max = x[i * cols];

		for (long j = 1; j < cols && max < INFINITY; j++) {
			float v = x[i * cols + j];

			max = v > max || v != v ? v : max;
		}
		y[i] = max;
	}
}
