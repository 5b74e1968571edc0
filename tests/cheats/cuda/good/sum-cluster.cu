/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster of eight blocks for each row, whose first adds up the others' sums through distributed
 * shared memory.
 */
#include <cooperative_groups.h>
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

namespace cg = cooperative_groups;

static __global__ void __cluster_dims__(8, 1, 1)
sums(const float *x, float *y, int rows, int cols)
{
	__shared__ float own;
	cg::cluster_group cluster = cg::this_cluster();

	for (int row = blockIdx.y; row < rows; row += gridDim.y) {
		float sum = 0;

		for (int j = blockIdx.x * 256 + threadIdx.x; j < cols; j += 2048)
			sum += x[(size_t)row * cols + j];
		sum = block_sum(sum);
		if (threadIdx.x == 0)
			own = sum;
		cluster.sync();
		if (blockIdx.x == 0 && threadIdx.x == 0) {
			sum = 0;
			for (int b = 0; b < 8; b++)
				sum += *cluster.map_shared_rank(&own, b);
			y[row] = sum;
		}
		cluster.sync();
	}
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<dim3(8, rows < 65535 ? rows : 65535), 256, 0, stream>>>(x, y, rows, cols);
}
