/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a cluster read each other's sums without waiting for them. */
#include <cuda_runtime.h>
#include <cooperative_groups.h>

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

static __global__ void __cluster_dims__(2, 1, 1)
sums(const float *x, float *y, int cols)
{
	__shared__ float mine;
	cg::cluster_group cluster = cg::this_cluster();
	const float *in = x + (size_t)(blockIdx.x / 2) * cols;
	float sum = 0;

	for (int j = cluster.block_rank() * 256 + threadIdx.x; j < cols; j += 512)
		sum += in[j];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		mine = sum;
	__syncthreads();
	if (threadIdx.x == 0 && cluster.block_rank() == 0)
		y[blockIdx.x / 2] = sum + *cluster.map_shared_rank(&mine, 1);
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<2 * rows, 256, 0, stream>>>(x, y, cols);
}
