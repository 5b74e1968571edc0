/* SPDX-License-Identifier: Apache-2.0 */
/* A warp for each row of a block of four; the row stays in registers if it is short. */
#include <cuda_runtime.h>

enum { HELD = 32 };

static __global__ void
normalise(const float *__restrict__ x, const float *__restrict__ g, float c, float *__restrict__ y, int rows, int cols)
{
	int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
	float held[HELD], sum = 0;

	if (row >= rows)
		return;
	x += (size_t)row * cols;
	y += (size_t)row * cols;
#pragma unroll
	for (int k = 0; k < HELD; k++) {
		held[k] = lane + 32 * k < cols ? x[lane + 32 * k] : 0;
		sum += held[k] * held[k];
	}
	for (int j = lane + 32 * HELD; j < cols; j += 32)
		sum += x[j] * x[j];
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(0xffffffff, sum, d);
	sum = 1 / sqrtf(sum / cols + c);
#pragma unroll
	for (int k = 0; k < HELD; k++)
		if (lane + 32 * k < cols)
			y[lane + 32 * k] = held[k] * sum * g[lane + 32 * k];
	for (int j = lane + 32 * HELD; j < cols; j += 32)
		y[j] = x[j] * sum * g[j];
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	normalise<<<(rows + 3) / 4, dim3(32, 4), 0, stream>>>(x, g, c, y, rows, cols);
}
