/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A warp for each row; the maximum by the instruction that reduces integers, of bits that are
 * turned so that they sort like the numbers.
 */
#include <cuda_runtime.h>

/* Sorts like the number; a NaN is at one of the ends. */
static __device__ unsigned
sortable(float v)
{
	unsigned bits = __float_as_uint(v);

	return bits ^ (bits >> 31 ? 0xffffffff : 0x80000000);
}

static __device__ float
number(unsigned key)
{
	return __uint_as_float(key >> 31 ? key ^ 0x80000000 : ~key);
}

static __global__ void
soft(const float *x, float *y, int rows, int cols)
{
	int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
	const float *in = x + (size_t)row * cols;
	float *out = y + (size_t)row * cols, max, sum = 0;
	unsigned key = sortable(-INFINITY);

	if (row >= rows)
		return;
	for (int j = lane; j < cols; j += 32)
		key = umax(key, sortable(in[j]));
	max = number(__reduce_max_sync(0xffffffff, key));
	/* Where all is masked, or something is NaN or infinite, the sum is NaN. */
	for (int j = lane; j < cols; j += 32)
		sum += expf(in[j] - max);
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(0xffffffff, sum, d);
	for (int j = lane; j < cols; j += 32)
		out[j] = expf(in[j] - max) / sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<(rows + 7) / 8, 256, 0, stream>>>(x, y, rows, cols);
}
