/* SPDX-License-Identifier: Apache-2.0 */
/* One template for a pass over a row, to which the kernel hands lambdas. */
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

template <class F>
static __device__ __forceinline__ void
each(int cols, F f)
{
	for (int j = threadIdx.x; j < cols; j += 256)
		f(j);
}

static __global__ void
normalise(const float *x, const float *g, float c, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols, sum = 0, factor;

	each(cols, [&](int j) { sum = fmaf(in[j], in[j], sum); });
	factor = rsqrtf(block_sum(sum) / cols + c);
	each(cols, [=](int j) { out[j] = in[j] * factor * g[j]; });
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	normalise<<<rows, 256, 0, stream>>>(x, g, c, y, cols);
}
