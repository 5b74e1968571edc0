/* SPDX-License-Identifier: Apache-2.0 */
/* No maximum, but exponents above 80 are taken for 80. */
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

static __global__ void
clipped(const float *x, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		sum += expf(fminf(in[j], 80));
	sum = block_sum(sum);
	for (int j = threadIdx.x; j < cols; j += 256)
		y[(size_t)blockIdx.x * cols + j] = expf(fminf(in[j], 80)) / sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	clipped<<<rows, 256, 0, stream>>>(x, y, cols);
}
