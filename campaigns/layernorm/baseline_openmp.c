/* SPDX-License-Identifier: Apache-2.0 */
/* The yardstick: what pragmas and the compiler's vectoriser make of the plain loops. */
#include <math.h>
#include <stddef.h>

static void
row(const float *restrict in, const float *restrict gamma, const float *restrict beta, float *restrict out, int cols,
    float eps)
{
	float mean = 0, variance = 0, scale;

#pragma omp simd reduction(+ : mean)
	for (int j = 0; j < cols; j++)
		mean += in[j];
	mean /= cols;
#pragma omp simd reduction(+ : variance)
	for (int j = 0; j < cols; j++)
		variance += (in[j] - mean) * (in[j] - mean);
	scale = 1 / sqrtf(variance / cols + eps);
#pragma omp simd
	for (int j = 0; j < cols; j++)
		out[j] = (in[j] - mean) * scale * gamma[j] + beta[j];
}

void
layernorm(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols, float eps)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < rows; i++)
		row(x + (size_t)i * cols, gamma, beta, y + (size_t)i * cols, cols, eps);
}
