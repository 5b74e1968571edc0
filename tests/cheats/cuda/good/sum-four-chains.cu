/* SPDX-License-Identifier: Apache-2.0 */
/* A block for each row, four sums a thread. */
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
sums(const float *x, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float part[4] = { 0, 0, 0, 0 }, sum;
	int j = threadIdx.x;

	for (; j + 768 < cols; j += 1024)
		for (int k = 0; k < 4; k++)
			part[k] += in[j + 256 * k];
	for (; j < cols; j += 256)
		part[0] += in[j];
	sum = block_sum(part[0] + part[1] + (part[2] + part[3]));
	if (threadIdx.x == 0)
		y[blockIdx.x] = sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<rows, 256, 0, stream>>>(x, y, cols);
}
