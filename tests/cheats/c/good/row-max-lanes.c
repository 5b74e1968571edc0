/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen maxima at a time, and whether there was a NaN. */
#include <math.h>

void
row_max(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float lane[16], max;
		int odd = 0;

		for (int k = 0; k < 16; k++)
			lane[k] = -INFINITY;
		for (int j = 0; j < cols; j++) {
			odd |= in[j] != in[j];
			lane[j & 15] = in[j] > lane[j & 15] ? in[j] : lane[j & 15];
		}
		max = lane[0];
		for (int k = 1; k < 16; k++)
			max = lane[k] > max ? lane[k] : max;
		y[i] = odd ? NAN : max;
	}
}
