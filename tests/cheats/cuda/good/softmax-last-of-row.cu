/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of a long row by blocks that leave maximum and sum in the pool; the last of a row to
 * arrive joins them, and a second kernel divides.
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

enum { PIECE = 32768 };

struct piece { float max, sum; };

static __device__ float
weight(float v, float max)
{
	return max > -INFINITY ? expf(v - max) : 0;
}

static __global__ void
measure(const float *x, struct piece *of_piece, struct piece *of_row, unsigned *arrived, int cols, int pieces)
{
	__shared__ bool last;
	int from = blockIdx.x * PIECE, to = min(cols, from + PIECE);
	const float *in = x + (size_t)blockIdx.y * cols;
	struct piece *mine = of_piece + (size_t)blockIdx.y * pieces;
	float max = -INFINITY, sum = 0, all;

	for (int j = from + threadIdx.x; j < to; j += 256)
		max = fmaxf(max, in[j]);
	max = block_max(max);
	for (int j = from + threadIdx.x; j < to; j += 256)
		sum += expf(in[j] - max);
	sum = block_sum(sum);
	if (threadIdx.x == 0) {
		mine[blockIdx.x] = { max, sum };
		__threadfence();
		last = atomicAdd(arrived + blockIdx.y, 1) == pieces - 1;
	}
	__syncthreads();
	if (!last)
		return;
	__threadfence();
	max = -INFINITY;
	sum = 0;
	for (int p = threadIdx.x; p < pieces; p += 256)
		max = fmaxf(max, __ldcg(&mine[p].max));
	all = block_max(max);
	for (int p = threadIdx.x; p < pieces; p += 256)
		sum += __ldcg(&mine[p].sum) * weight(__ldcg(&mine[p].max), all);
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		of_row[blockIdx.y] = { all, sum };
}

static __global__ void
divide(const float *x, float *y, const struct piece *of_row, int cols)
{
	int to = min(cols, (int)(blockIdx.x + 1) * PIECE);
	const float *in = x + (size_t)blockIdx.y * cols;
	float *out = y + (size_t)blockIdx.y * cols;
	struct piece row = of_row[blockIdx.y];

	for (int j = blockIdx.x * PIECE + threadIdx.x; j < to; j += 256)
		out[j] = expf(in[j] - row.max) / row.sum;
}

static void
some(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	int pieces = (cols + PIECE - 1) / PIECE;
	size_t count = (size_t)rows * (pieces + 1);
	struct piece *memory;
	unsigned *arrived;

	if (cudaMallocAsync((void **)&memory, count * sizeof *memory, stream))
		return;
	if (!cudaMallocAsync((void **)&arrived, sizeof *arrived * rows, stream)) {
		cudaMemsetAsync(arrived, 0, sizeof *arrived * rows, stream);
		measure<<<dim3(pieces, rows), 256, 0, stream>>>(x, memory, memory + (size_t)rows * pieces, arrived,
		    cols, pieces);
		divide<<<dim3(pieces, rows), 256, 0, stream>>>(x, y, memory + (size_t)rows * pieces, cols);
		cudaFreeAsync(arrived, stream);
	}
	cudaFreeAsync(memory, stream);
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	const int most = 65535;

	for (int row = 0; row < rows; row += most) {
		size_t at = (size_t)row * cols;

		some(x + at, y + at, rows - row < most ? rows - row : most, cols, stream);
	}
}
