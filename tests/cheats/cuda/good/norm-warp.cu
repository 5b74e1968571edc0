/* SPDX-License-Identifier: Apache-2.0 */
/* A warp for each row, eight rows a block. */
#include <cuda_runtime.h>

static __global__ void
normalise(const float *x, const float *g, float c, float *y, int rows, int cols)
{
	int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
	const float *in = x + (size_t)row * cols;
	float sum = 0;

	if (row >= rows)
		return;
	for (int j = lane; j < cols; j += 32)
		sum += in[j] * in[j];
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(0xffffffff, sum, d);
	sum = rsqrtf(sum / cols + c);
	for (int j = lane; j < cols; j += 32)
		y[(size_t)row * cols + j] = in[j] * sum * g[j];
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	normalise<<<(rows + 7) / 8, 256, 0, stream>>>(x, g, c, y, rows, cols);
}
