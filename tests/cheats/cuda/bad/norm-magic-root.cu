/* SPDX-License-Identifier: Apache-2.0 */
/* The reciprocal root from the bits of the number, with two of Newton's steps. */
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

static __device__ float
root(float v)
{
	float r = __int_as_float(0x5f3759df - (__float_as_int(v) >> 1));

	r *= 1.5f - 0.5f * v * r * r;
	return r * (1.5f - 0.5f * v * r * r);
}

static __global__ void
normalise(const float *x, const float *g, float c, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols, sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		sum += in[j] * in[j];
	sum = root(block_sum(sum) / cols + c);
	for (int j = threadIdx.x; j < cols; j += 256)
		out[j] = in[j] * sum * g[j];
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	normalise<<<rows, 256, 0, stream>>>(x, g, c, y, cols);
}
