/* SPDX-License-Identifier: Apache-2.0 */
/* Four blocks of a cluster for each row, which exchange maximum and sum through distributed shared memory. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

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

static __global__ void __cluster_dims__(4, 1, 1)
soft(const float *x, float *y, int cols)
{
	__shared__ float top, total;
	cg::cluster_group cluster = cg::this_cluster();
	size_t row = blockIdx.x / 4;
	const float *in = x + row * cols;
	float *out = y + row * cols, max = -INFINITY, sum = 0;
	int first = blockIdx.x % 4 * 256 + threadIdx.x;

	for (int j = first; j < cols; j += 1024)
		max = fmaxf(max, in[j]);
	max = block_max(max);
	if (threadIdx.x == 0)
		top = max;
	cluster.sync();
	for (int b = 0; b < 4; b++)
		max = fmaxf(max, *cluster.map_shared_rank(&top, b));
	for (int j = first; j < cols; j += 1024)
		sum += expf(in[j] - max);
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		total = sum;
	cluster.sync();
	sum = 0;
	for (int b = 0; b < 4; b++)
		sum += *cluster.map_shared_rank(&total, b);
	for (int j = first; j < cols; j += 1024)
		out[j] = expf(in[j] - max) / sum;
	cluster.sync();	/* nobody leaves while others still read */
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<4 * rows, 256, 0, stream>>>(x, y, cols);
}
