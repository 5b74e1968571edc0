/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane adds up its share pairwise, by a function of the device that calls itself. */
#include <cuda_runtime.h>

/* Elements FIRST, FIRST + 32 and so on, N of them. */
static __device__ __noinline__ float
pairwise(const float *in, int n)
{
	float sum = 0;

	if (n <= 64) {
		for (int k = 0; k < n; k++)
			sum += in[(size_t)k * 32];
		return sum;
	}
	return pairwise(in, n / 2) + pairwise(in + (size_t)(n / 2) * 32, n - n / 2);
}

static __global__ void
sums(const float *x, float *y, int rows, int cols)
{
	int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
	float sum;

	if (row >= rows)
		return;
	sum = lane < cols ? pairwise(x + (size_t)row * cols + lane, (cols - lane + 31) / 32) : 0;
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(0xffffffff, sum, d);
	if (lane == 0)
		y[row] = sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<(rows + 7) / 8, 256, 0, stream>>>(x, y, rows, cols);
}
