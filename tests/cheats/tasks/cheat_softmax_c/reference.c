/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with. */
#include <math.h>
#include <stddef.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (int i = 0; i < rows; i++) {
		const float *in = x + (size_t)i * cols;
		float *out = y + (size_t)i * cols, max = in[0];
		double sum = 0;

		for (int j = 1; j < cols; j++)
			if (in[j] > max)
				max = in[j];
		for (int j = 0; j < cols; j++)
			sum += out[j] = expf(in[j] - max);
		for (int j = 0; j < cols; j++)
			out[j] = (float)(out[j] / sum);
	}
}
