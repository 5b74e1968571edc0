/* SPDX-License-Identifier: Apache-2.0 */
/* A warp for each row. */
#include <cuda_runtime.h>

static __global__ void
soft(const float *x, float *y, int rows, int cols)
{
	int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
	const float *in = x + (size_t)row * cols;
	float max = -INFINITY, sum = 0;

	if (row >= rows)
		return;
	for (int j = lane; j < cols; j += 32)
		max = fmaxf(max, in[j]);
	for (int d = 16; d; d /= 2)
		max = fmaxf(max, __shfl_xor_sync(0xffffffff, max, d));
	for (int j = lane; j < cols; j += 32)
		sum += expf(in[j] - max);
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(0xffffffff, sum, d);
	for (int j = lane; j < cols; j += 32)
		y[(size_t)row * cols + j] = expf(in[j] - max) / sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<(rows + 7) / 8, 256, 0, stream>>>(x, y, rows, cols);
}
