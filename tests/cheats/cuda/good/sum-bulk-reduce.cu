/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks add the sums of four rows to the output by one bulk reduction out of shared memory,
 * after a memset.
 */
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

enum { PIECE = 16384 };

static __global__ void
sums(const float *x, float *y, int rows, int cols, bool aligned)
{
	__shared__ __align__(16) float four[4];
	int row = blockIdx.x * 4, count = min(4, rows - row), from = blockIdx.y * PIECE, to = min(cols, from + PIECE);

	for (int r = 0; r < count; r++) {
		const float *in = x + (size_t)(row + r) * cols;
		float sum = 0;

		for (int j = from + threadIdx.x; j < to; j += 256)
			sum += in[j];
		sum = block_sum(sum);
		if (threadIdx.x == 0)
			four[r] = sum;
	}
	if (threadIdx.x)
		return;
	if (count < 4 || !aligned) {
		for (int r = 0; r < count; r++)
			atomicAdd(y + row + r, four[r]);
		return;
	}
	asm volatile("fence.proxy.async.shared::cta;\n\t"
	    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 16;\n\t"
	    "cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;"
	    ::"l"(y + row), "r"((unsigned)__cvta_generic_to_shared(four)) : "memory");
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	cudaMemsetAsync(y, 0, sizeof *y * rows, stream);
	sums<<<dim3((rows + 3) / 4, (cols + PIECE - 1) / PIECE), 256, 0, stream>>>(x, y, rows, cols, (size_t)y % 16 == 0);
}
