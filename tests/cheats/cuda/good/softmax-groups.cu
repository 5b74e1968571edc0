/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: tiles of a warp and their reductions. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

static __global__ void
soft(const float *x, float *y, int rows, int cols)
{
	cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
	long row = (long)blockIdx.x * (blockDim.x / 32) + warp.meta_group_rank();
	const float *in = x + row * cols;
	float *out = y + row * cols, max = -INFINITY, sum = 0;

	if (row >= rows)
		return;
	for (int j = warp.thread_rank(); j < cols; j += 32)
		max = fmaxf(max, in[j]);
	max = cg::reduce(warp, max, cg::greater<float>());
	for (int j = warp.thread_rank(); j < cols; j += 32)
		sum += expf(in[j] - max);
	sum = cg::reduce(warp, sum, cg::plus<float>());
	for (int j = warp.thread_rank(); j < cols; j += 32)
		out[j] = expf(in[j] - max) / sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<(rows + 3) / 4, 128, 0, stream>>>(x, y, rows, cols);
}
