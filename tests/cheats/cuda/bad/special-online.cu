/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass with a running maximum that begins at minus infinity: a row that begins with masked
 * elements becomes NaN.
 */
#include <cuda_runtime.h>

static __global__ void
soft(const float *x, float *y, int rows, int cols)
{
	int row = blockIdx.x * 256 + threadIdx.x;
	const float *in = x + (size_t)row * cols;
	float max = -INFINITY, sum = 0;

	if (row >= rows)
		return;
	for (int j = 0; j < cols; j++) {
		float next = fmaxf(max, in[j]);

		sum = sum * expf(max - next) + expf(in[j] - next);
		max = next;
	}
	for (int j = 0; j < cols; j++)
		y[(size_t)row * cols + j] = expf(in[j] - max) / sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<(rows + 255) / 256, 256, 0, stream>>>(x, y, rows, cols);
}
