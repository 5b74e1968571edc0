/* SPDX-License-Identifier: Apache-2.0 */
/* A warp for each row, in double. */
#include <cuda_runtime.h>

static __global__ void
sums(const float *x, float *y, int rows, int cols)
{
	int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
	double sum = 0;

	if (row >= rows)
		return;
	for (int j = lane; j < cols; j += 32)
		sum += x[(size_t)row * cols + j];
	for (int d = 16; d; d /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, d);
	if (lane == 0)
		y[row] = (float)sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<(rows + 7) / 8, 256, 0, stream>>>(x, y, rows, cols);
}
