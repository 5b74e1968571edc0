/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of every row, the way the definition reads: maximum, sum of exponentials, division; one thread. */
#include <math.h>
#include <stddef.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (int i = 0; i < rows; i++) {
		const float *in = x + (size_t)i * cols;
		float *out = y + (size_t)i * cols, max = in[0];
		double sum = 0;	/* of up to a million terms: one float would lose three digits */

		for (int j = 1; j < cols; j++)
			if (in[j] > max)
				max = in[j];
		for (int j = 0; j < cols; j++)
			sum += expf(in[j] - max);
		for (int j = 0; j < cols; j++)
			out[j] = (float)(expf(in[j] - max) / sum);
	}
}
