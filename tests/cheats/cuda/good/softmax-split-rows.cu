/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long rows in pieces of 8192, each with its maximum and sum in memory from the stream's pool,
 * joined by the kernel that divides.
 */
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

enum { PIECE = 8192 };

static __global__ void
look(const float *x, float2 *parts, int cols, int pieces)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	int from = blockIdx.y * PIECE, to = min(cols, from + PIECE);
	float max = -INFINITY, sum = 0;

	for (int j = from + threadIdx.x; j < to; j += 256)
		max = fmaxf(max, in[j]);
	max = block_max(max);
	for (int j = from + threadIdx.x; j < to; j += 256)
		sum += expf(in[j] - max);
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		parts[(size_t)blockIdx.x * pieces + blockIdx.y] = make_float2(max, sum);
}

static __global__ void
divide(const float *x, const float2 *parts, float *y, int cols, int pieces)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	int from = blockIdx.y * PIECE, to = min(cols, from + PIECE);
	float max = -INFINITY, sum = 0;

	parts += (size_t)blockIdx.x * pieces;
	for (int p = 0; p < pieces; p++)
		max = fmaxf(max, parts[p].x);
	for (int p = 0; p < pieces; p++)
		sum += parts[p].y * expf(parts[p].x - max);
	for (int j = from + threadIdx.x; j < to; j += 256)
		y[(size_t)blockIdx.x * cols + j] = expf(in[j] - max) / sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	int pieces = (cols + PIECE - 1) / PIECE;
	float2 *parts;

	if (pieces == 1) {
		honest(x, y, rows, cols, stream);
		return;
	}
	if (cudaMallocAsync((void **)&parts, sizeof *parts * rows * pieces, stream) != cudaSuccess)
		return;
	look<<<dim3(rows, pieces), 256, 0, stream>>>(x, parts, cols, pieces);
	divide<<<dim3(rows, pieces), 256, 0, stream>>>(x, parts, y, cols, pieces);
	cudaFreeAsync(parts, stream);
}
