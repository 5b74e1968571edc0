/* SPDX-License-Identifier: Apache-2.0 */
/* Neumaier's compensation, which also keeps what a larger summand would swallow. */
#include <math.h>

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float sum = 0, lost = 0;

		for (long j = 0; j < cols; j++) {
			float v = x[i * cols + j];
			volatile float t = sum + v;

			lost += fabsf(sum) >= fabsf(v) ? (sum - t) + v : (v - t) + sum;
			sum = t;
		}
		y[i] = sum + lost;
	}
}
