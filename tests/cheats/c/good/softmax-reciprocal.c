/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplies by the reciprocal of the sum. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float *out = y + i * cols, max = in[0], reciprocal;
		double sum = 0;

		for (long j = 1; j < cols; j++)
			max = fmaxf(max, in[j]);
		for (long j = 0; j < cols; j++)
			sum += out[j] = expf(in[j] - max);
		reciprocal = (float)(1 / sum);
#pragma omp simd
		for (long j = 0; j < cols; j++)
			out[j] *= reciprocal;
	}
}
