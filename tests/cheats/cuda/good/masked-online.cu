/* SPDX-License-Identifier: Apache-2.0 */
/* One pass with a running maximum, which masked elements do not move. */
#include <cuda_runtime.h>

/*
 * Sums that belong to two maxima, brought together. Nothing has come yet where a maximum is minus
 * infinity.
 */
static __device__ void
join(float &max, float &sum, float other, float more)
{
	float top = fmaxf(max, other);

	sum = (max == -INFINITY ? sum : sum * expf(max - top)) + (other == -INFINITY ? more :
	    more * expf(other - top));
	max = top;
}

static __global__ void
soft(const float *x, float *y, int cols)
{
	__shared__ float tops[8], sums[8];
	const float *in = x + (size_t)blockIdx.x * cols;
	float max = -INFINITY, sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		if (in[j] != in[j])
			sum = in[j];
		else if (in[j] != -INFINITY)
			join(max, sum, in[j], 1);
	for (int d = 16; d; d /= 2)
		join(max, sum, __shfl_xor_sync(0xffffffff, max, d),
		    __shfl_xor_sync(0xffffffff, sum, d));
	if (threadIdx.x % 32 == 0)
		tops[threadIdx.x / 32] = max, sums[threadIdx.x / 32] = sum;
	__syncthreads();
	max = tops[0], sum = sums[0];
	for (int w = 1; w < 8; w++)
		join(max, sum, tops[w], sums[w]);
	for (int j = threadIdx.x; j < cols; j += 256)
		y[(size_t)blockIdx.x * cols + j] = expf(in[j] - max) / sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<rows, 256, 0, stream>>>(x, y, cols);
}
