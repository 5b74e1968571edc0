/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many short rows in one warp: a scan by shuffles that begins again at each row, and the last
 * lane of a row writes it; long rows by a block.
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

/* Rows of at most 32 elements: each warp takes as many whole rows as it has lanes for. */
static __global__ void
short_rows(const float *x, float *y, int rows, int cols)
{
	int each = 32 / cols, warp = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
	long row = (long)warp * each + lane / cols;
	bool mine = lane < each * cols && row < rows;
	float sum = mine ? x[row * cols + lane % cols] : 0;

	for (int d = 1; d < cols; d *= 2) {
		float before = __shfl_up_sync(0xffffffff, sum, d);

		if (lane % cols >= d)
			sum += before;
	}
	if (mine && lane % cols == cols - 1)
		y[row] = sum;
}

static __global__ void
long_rows(const float *x, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		sum += in[j];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		y[blockIdx.x] = sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	int each = cols <= 32 ? 32 / cols : 1, warps = (rows + each - 1) / each;

	if (cols <= 32)
		short_rows<<<(warps + 7) / 8, 256, 0, stream>>>(x, y, rows, cols);
	else
		long_rows<<<rows, 256, 0, stream>>>(x, y, cols);
}
