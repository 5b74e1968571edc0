/* SPDX-License-Identifier: Apache-2.0 */
/* Sums squares in float16 range: values above 255 are taken for 255. */
#include <cuda_runtime.h>

/* Sum of v over the 256 threads of the block, for all of them. */
static __device__ float
block_sum(float v)
{
	__shared__ float part[8];

	for (int d = 16; d; d /= 2)
		v += __shfl_xor_sync(0xffffffff, v, d);
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = 0;
	for (int w = 0; w < 8; w++)
		v += part[w];
	return v;
}

static __global__ void
clipped(const float *x, const float *g, float c, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		sum += fminf(in[j] * in[j], 65025);
	sum = 1 / sqrtf(block_sum(sum) / cols + c);
	for (int j = threadIdx.x; j < cols; j += 256)
		y[(size_t)blockIdx.x * cols + j] = in[j] * sum * g[j];
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	clipped<<<rows, 256, 0, stream>>>(x, g, c, y, cols);
}
