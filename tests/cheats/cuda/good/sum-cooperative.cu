/* SPDX-License-Identifier: Apache-2.0 */
/* A cooperative launch: partial sums, a barrier over the grid, and their total, in one kernel. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

enum { ROOM = 1 << 20, PIECE = 8192 };

static __device__ float part[ROOM];

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
	int pieces = (cols + PIECE - 1) / PIECE;

	for (long p = blockIdx.x; p < (long)rows * pieces; p += gridDim.x) {
		const float *in = x + p / pieces * cols;
		int from = p % pieces * PIECE, to = min(cols, from + PIECE);
		float sum = 0;

		for (int j = from + threadIdx.x; j < to; j += 256)
			sum += in[j];
		sum = block_sum(sum);
		if (threadIdx.x == 0)
			part[p] = sum;
	}
	cg::this_grid().sync();
	for (int i = blockIdx.x * 256 + threadIdx.x; i < rows; i += gridDim.x * 256) {
		float sum = 0;

		for (int p = 0; p < pieces; p++)
			sum += part[(long)i * pieces + p];
		y[i] = sum;
	}
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	static int grid;
	void *arguments[] = { &x, &y, &rows, &cols };
	int device, processors, fit;

	if (!grid) {
		cudaGetDevice(&device);
		cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, sums, 256, 0);
		grid = processors * fit;
	}
	cudaLaunchCooperativeKernel((const void *)sums, grid, 256, arguments, 0, stream);
}
