/* SPDX-License-Identifier: Apache-2.0 */
/* The yardstick: what pragmas and the compiler's vector mathematics (-ffast-math, libmvec) make of the plain loops. */
#include <math.h>
#include <stddef.h>

static void
row(const float *restrict in, float *restrict out, int cols)
{
	float max = in[0], sum = 0, scale;

#pragma omp simd reduction(max : max)
	for (int j = 0; j < cols; j++)
		max = in[j] > max ? in[j] : max;
#pragma omp simd reduction(+ : sum)
	for (int j = 0; j < cols; j++) {
		out[j] = expf(in[j] - max);
		sum += out[j];
	}
	scale = 1 / sum;
#pragma omp simd
	for (int j = 0; j < cols; j++)
		out[j] *= scale;
}

void
softmax(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < rows; i++)
		row(x + (size_t)i * cols, y + (size_t)i * cols, cols);
}
