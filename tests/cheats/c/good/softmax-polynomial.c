/* SPDX-License-Identifier: Apache-2.0 */
/* An exponential of its own: base 2 by bits, the fraction by a polynomial of degree 6, within the tolerance. */
#include <math.h>
#include <string.h>

static float
exponential(float v)
{
	float t = v * 1.44269504f, whole = floorf(t), f = (t - whole) * 0.693147181f, p, scale;
	int bits = ((int)whole + 127) << 23;

	if (v < -87)
		return 0;
	p = 1 + f * (1 + f * (0.5f + f * (0.166666667f + f * (0.0416666667f + f * (0.00833333333f + f * 0.00138888889f)))));
	memcpy(&scale, &bits, sizeof scale);
	return p * scale;
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
			sum += out[j] = exponential(in[j] - max);
		for (long j = 0; j < cols; j++)
			out[j] = (float)(out[j] / sum);
	}
}
