/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks as many as fit, which take one row after the other. */
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
sums(const float *x, float *y, int rows, int cols)
{
	for (int row = blockIdx.x; row < rows; row += gridDim.x) {
		float sum = 0;

		for (int j = threadIdx.x; j < cols; j += 256)
			sum += x[(size_t)row * cols + j];
		sum = block_sum(sum);
		if (threadIdx.x == 0)
			y[row] = sum;
	}
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	int device, processors = 0, each = 0;

	cudaGetDevice(&device);
	cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
	cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, sums, 256, 0);
	sums<<<min(rows, max(1, processors * each)), 256, 0, stream>>>(x, y, rows, cols);
}
