/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel for the roots of all rows, kept in memory from the stream's pool, another one that
 * multiplies.
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

static __global__ void
root(const float *x, float c, float *roots, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		sum += in[j] * in[j];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		roots[blockIdx.x] = 1 / sqrtf(sum / cols + c);
}

static __global__ void
multiply(const float *x, const float *g, const float *roots, float *y, size_t n, int cols)
{
	for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256)
		y[i] = x[i] * roots[i / cols] * g[i % cols];
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	float *roots;

	if (cudaMallocAsync((void **)&roots, sizeof *roots * rows, stream) != cudaSuccess)
		return;
	root<<<rows, 256, 0, stream>>>(x, c, roots, cols);
	multiply<<<528, 256, 0, stream>>>(x, g, roots, y, (size_t)rows * cols, cols);
	cudaFreeAsync(roots, stream);
}
