/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts eight bits off every input, and adds them up well. */
#include <string.h>

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++) {
			float v = x[i * cols + j];
			unsigned u;

			memcpy(&u, &v, sizeof u);
			u = (u + 0x80) & 0xffffff00;
			memcpy(&v, &u, sizeof v);
			sum += v;
		}
		y[i] = (float)sum;
	}
}
