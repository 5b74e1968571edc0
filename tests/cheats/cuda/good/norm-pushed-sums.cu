/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four blocks of a cluster share a row; each writes its sum into the shared memory of all others.
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

static __global__ void __cluster_dims__(4, 1, 1)
normalise(const float *x, const float *g, float c, float *y, int cols)
{
	__shared__ float sums[4];
	cg::cluster_group cluster = cg::this_cluster();
	unsigned rank = cluster.block_rank();
	const float *in = x + (size_t)(blockIdx.x / 4) * cols;
	float *out = y + (size_t)(blockIdx.x / 4) * cols, sum = 0;

	for (int j = rank * 256 + threadIdx.x; j < cols; j += 1024)
		sum += in[j] * in[j];
	sum = block_sum(sum);
	cluster.sync();
	if (threadIdx.x < 4)
		cluster.map_shared_rank(sums, threadIdx.x)[rank] = sum;
	cluster.sync();
	sum = 1 / sqrtf((sums[0] + sums[1] + sums[2] + sums[3]) / cols + c);
	for (int j = rank * 256 + threadIdx.x; j < cols; j += 1024)
		out[j] = in[j] * sum * g[j];
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	normalise<<<4 * rows, 256, 0, stream>>>(x, g, c, y, cols);
}
