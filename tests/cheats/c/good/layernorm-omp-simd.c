/* SPDX-License-Identifier: Apache-2.0 */
/* Rows spread over threads, sums as simd reductions in double. */
#include <math.h>

void
layernorm(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols,
    float eps)
{
#pragma omp parallel for schedule(guided)
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		double sum = 0, square = 0, mean, root;

#pragma omp simd reduction(+ : sum)
		for (int j = 0; j < cols; j++)
			sum += in[j];
		mean = sum / cols;
#pragma omp simd reduction(+ : square)
		for (int j = 0; j < cols; j++)
			square += (in[j] - mean) * (in[j] - mean);
		root = 1 / sqrt(square / cols + eps);
		for (int j = 0; j < cols; j++)
			y[i * cols + j] = (float)((in[j] - mean) * root) * gamma[j] + beta[j];
	}
}
