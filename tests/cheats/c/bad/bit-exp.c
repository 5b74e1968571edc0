/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the exponential from the bits of a float, which is off by some per cent. */
#include <string.h>

static float
rough(float v)
{
	int bits = (int)(12102203.0f * v) + 1064866805;

	memcpy(&v, &bits, sizeof v);
	return v;
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float *out = y + i * cols, max = in[0];
		double sum = 0;

		for (long j = 1; j < cols; j++)
			max = in[j] > max ? in[j] : max;
		for (long j = 0; j < cols; j++)
			sum += out[j] = in[j] - max < -87 ? 0 : rough(in[j] - max);
		for (long j = 0; j < cols; j++)
			out[j] = (float)(out[j] / sum);
	}
}
