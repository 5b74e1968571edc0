/* SPDX-License-Identifier: Apache-2.0 */
/* Rows spread over threads. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel for if (rows > 16)
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float *out = y + i * cols, max = -INFINITY, sum = 0;

#pragma omp simd reduction(max : max)
		for (int j = 0; j < cols; j++)
			max = in[j] > max ? in[j] : max;
		for (int j = 0; j < cols; j++)
			sum += out[j] = expf(in[j] - max);
#pragma omp simd
		for (int j = 0; j < cols; j++)
			out[j] /= sum;
	}
}
