/* SPDX-License-Identifier: Apache-2.0 */
/* A yardstick by hand: tiles of 32 x 32 turned in shared memory, so that reads and writes both run along rows. */
#include <cuda_runtime.h>

enum { SIDE = 32, STEP = 8 };

static __global__ void
turn(const float *x, float *y, int rows, int cols)
{
	__shared__ float tile[SIDE][SIDE + 1];
	int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;

#pragma unroll
	for (int i = 0; i < SIDE; i += STEP)
		if (row + i < rows && column < cols)
			tile[threadIdx.y + i][threadIdx.x] = __ldcs(&x[(size_t)(row + i) * cols + column]);
	__syncthreads();
	row = blockIdx.y * SIDE + threadIdx.x;
	column = blockIdx.x * SIDE + threadIdx.y;
#pragma unroll
	for (int i = 0; i < SIDE; i += STEP)
		if (row < rows && column + i < cols)
			__stcs(&y[(size_t)(column + i) * rows + row], tile[threadIdx.x][threadIdx.y + i]);
}

extern "C" void
transpose(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	dim3 grid((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE), block(SIDE, STEP);

	turn<<<grid, block, 0, stream>>>(x, y, rows, cols);
}
