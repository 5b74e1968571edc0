/* SPDX-License-Identifier: Apache-2.0 */
/* The last block to arrive adds the partial sums, counted in a device variable that it sets back to zero. */
#include <cuda_runtime.h>

enum { PARTS = 16, ROWS = 4096 };

static __device__ float parts[ROWS][PARTS];
static __device__ unsigned arrived[ROWS];

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
	__shared__ bool last;
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	for (int j = blockIdx.y * 256 + threadIdx.x; j < cols; j += PARTS * 256)
		sum += in[j];
	sum = block_sum(sum);
	if (threadIdx.x == 0) {
		parts[blockIdx.x][blockIdx.y] = sum;
		__threadfence();
		last = atomicAdd(&arrived[blockIdx.x], 1) == PARTS - 1;
	}
	__syncthreads();
	if (!last || threadIdx.x)
		return;
	__threadfence();
	sum = 0;
	for (int p = 0; p < PARTS; p++)
		sum += ((volatile float *)parts[blockIdx.x])[p];
	y[blockIdx.x] = sum;
	arrived[blockIdx.x] = 0;
}

/* As many rows at a time as there is room for. */
extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	for (int from = 0; from < rows; from += ROWS)
		sums<<<dim3(min(ROWS, rows - from), PARTS), 256, 0, stream>>>(x + (size_t)from * cols, y + from, cols);
}
