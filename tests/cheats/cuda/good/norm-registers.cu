/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a row of up to 8192 elements in registers, reads longer ones twice. */
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

static __device__ void
norm_row(const float *in, const float *g, float c, float *out, int cols)
{
	float sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		sum += in[j] * in[j];
	sum = 1 / sqrtf(block_sum(sum) / cols + c);
	for (int j = threadIdx.x; j < cols; j += 256)
		out[j] = in[j] * sum * g[j];
}

static __global__ void
normalise(const float *x, const float *g, float c, float *y, int cols)
{
	size_t at = (size_t)blockIdx.x * cols;

	norm_row(x + at, g, c, y + at, cols);
}

static void
honest(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	normalise<<<rows, 256, 0, stream>>>(x, g, c, y, cols);
}

enum { KEPT = 32 };

static __global__ void
kept(const float *x, const float *g, float c, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float v[KEPT], sum = 0;

#pragma unroll
	for (int u = 0; u < KEPT; u++) {
		int j = u * 256 + threadIdx.x;

		v[u] = j < cols ? in[j] : 0;
		sum += v[u] * v[u];
	}
	sum = rsqrtf(block_sum(sum) / cols + c);
#pragma unroll
	for (int u = 0; u < KEPT; u++) {
		int j = u * 256 + threadIdx.x;

		if (j < cols)
			y[(size_t)blockIdx.x * cols + j] = v[u] * sum * g[j];
	}
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	if (cols <= 256 * KEPT)
		kept<<<rows, 256, 0, stream>>>(x, g, c, y, cols);
	else
		honest(x, g, c, y, rows, cols, stream);
}
