/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exponential from a table of 64 powers that is made in the first call, and a short
 * polynomial.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

static double powers[64];

static float
power_of_e(float x)
{
	double scaled = x * 92.332482616893657, whole = floor(scaled + 0.5),
	    t = (scaled - whole) * 0.010830424696249145;
	int64_t n = (int64_t)whole, e = n >> 6;
	double p = powers[n & 63] * (1 + t * (1 + t * (0.5 + t * (1.0 / 6)))), scale;
	uint64_t bits = (uint64_t)(e + 1023) << 52;

	if (e < -1000)
		return 0;
	memcpy(&scale, &bits, sizeof scale);
	return (float)(p * scale);
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	if (powers[0] == 0)
		for (int i = 0; i < 64; i++)
			powers[i] = exp2(i / 64.0);
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float *out = y + i * cols, max = in[0];
		double sum = 0;

		for (long j = 1; j < cols; j++)
			max = in[j] > max ? in[j] : max;
		for (long j = 0; j < cols; j++)
			sum += out[j] = power_of_e(in[j] - max);
		for (long j = 0; j < cols; j++)
			out[j] = (float)(out[j] / sum);
	}
}
