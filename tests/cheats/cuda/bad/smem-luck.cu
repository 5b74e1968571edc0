/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for more shared memory than a block may have and ignores that long rows are not launched. */
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
cached(const float *x, float *y, int cols)
{
	extern __shared__ float row[];
	float *out = y + (size_t)blockIdx.x * cols, max = -INFINITY, sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		max = fmaxf(max, row[j] = x[(size_t)blockIdx.x * cols + j]);
	max = block_max(max);
	for (int j = threadIdx.x; j < cols; j += 256)
		sum += row[j] = expf(row[j] - max);
	sum = block_sum(sum);
	for (int j = threadIdx.x; j < cols; j += 256)
		out[j] = row[j] / sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	cached<<<rows, 256, sizeof *x * cols, stream>>>(x, y, cols);
	(void)cudaGetLastError();
}
