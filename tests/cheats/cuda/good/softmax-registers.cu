/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of up to 4096 elements in registers, a template for their number. */
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
block_max(float v)
{
	__shared__ float part[8];

	for (int d = 16; d; d /= 2)
		v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = part[0];
	for (int w = 1; w < 8; w++)
		v = fmaxf(v, part[w]);
	return v;
}

static __global__ void
soft(const float *x, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols, max = -INFINITY, sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		max = fmaxf(max, in[j]);
	max = block_max(max);
	for (int j = threadIdx.x; j < cols; j += 256)
		sum += expf(in[j] - max);
	sum = block_sum(sum);
	for (int j = threadIdx.x; j < cols; j += 256)
		out[j] = expf(in[j] - max) / sum;
}

static void
honest(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<rows, 256, 0, stream>>>(x, y, cols);
}

template <int KEPT>
static __global__ void
kept(const float *x, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float v[KEPT], max = -INFINITY, sum = 0;

#pragma unroll
	for (int u = 0; u < KEPT; u++) {
		int j = u * 256 + threadIdx.x;

		v[u] = j < cols ? in[j] : -INFINITY;
		max = fmaxf(max, v[u]);
	}
	max = block_max(max);
#pragma unroll
	for (int u = 0; u < KEPT; u++)
		sum += v[u] = expf(v[u] - max);
	sum = 1 / block_sum(sum);
#pragma unroll
	for (int u = 0; u < KEPT; u++) {
		int j = u * 256 + threadIdx.x;

		if (j < cols)
			y[(size_t)blockIdx.x * cols + j] = v[u] * sum;
	}
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	if (cols <= 1024)
		kept<4><<<rows, 256, 0, stream>>>(x, y, cols);
	else if (cols <= 4096)
		kept<16><<<rows, 256, 0, stream>>>(x, y, cols);
	else
		honest(x, y, rows, cols, stream);
}
