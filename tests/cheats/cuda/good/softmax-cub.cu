/* SPDX-License-Identifier: Apache-2.0 */
/* The toolkit's block reduction with maximum and sum in one pair. */
#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

/* A maximum and the sum of exponentials that belongs to it. */
struct part {
	float max, sum;
};

struct join {
	__device__ part
	operator()(const part &a, const part &b) const
	{
		float top = fmaxf(a.max, b.max);

		return { top, (a.sum ? a.sum * expf(a.max - top) : 0) + (b.sum ?
		    b.sum * expf(b.max - top) : 0) };
	}
};

static __global__ void
soft(const float *x, float *y, int cols)
{
	using reduce = cub::BlockReduce<part, 256>;
	__shared__ reduce::TempStorage room;
	__shared__ part all;
	const float *in = x + (size_t)blockIdx.x * cols;
	part own = { -INFINITY, 0 };

	for (int j = threadIdx.x; j < cols; j += 256)
		own = join()(own, { in[j], 1 });
	own = reduce(room).Reduce(own, join());
	if (threadIdx.x == 0)
		all = own;
	__syncthreads();
	for (int j = threadIdx.x; j < cols; j += 256)
		y[(size_t)blockIdx.x * cols + j] = expf(in[j] - all.max) / all.sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<rows, 256, 0, stream>>>(x, y, cols);
}
