/* SPDX-License-Identifier: Apache-2.0 */
/* Loads rows into shared memory with one kernel and sums what it finds there with the next. */
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
load(const float *x, int cols)
{
	extern __shared__ float row[];

	for (int j = threadIdx.x; j < cols && j < 8192; j += 256)
		((volatile float *)row)[j] = x[(size_t)blockIdx.x * cols + j];
}

static __global__ void
add(float *y, int cols)
{
	extern __shared__ float row[];
	float sum = 0;

	for (int j = threadIdx.x; j < cols && j < 8192; j += 256)
		sum += ((volatile float *)row)[j];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		y[blockIdx.x] = sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	load<<<rows, 256, 32768, stream>>>(x, cols);
	add<<<rows, 256, 32768, stream>>>(y, cols);
}
