/* SPDX-License-Identifier: Apache-2.0 */
/* Maxima, sums and quotients by a kernel each, with memory of the stream between them. */
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

static __device__ float
block_max(float v)
{
	__shared__ float part[8];

	for (int d = 16; d; d /= 2)
		v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = part[0];
	for (int w = 1; w < 8; w++)
		v = fmaxf(v, part[w]);
	return v;
}

static __global__ void
maxima(const float *x, float *max, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float m = -INFINITY;

	for (int j = threadIdx.x; j < cols; j += 256)
		m = fmaxf(m, in[j]);
	m = block_max(m);
	if (threadIdx.x == 0)
		max[blockIdx.x] = m;
}

static __global__ void
sums(const float *x, const float *max, float *sum, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float s = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		s += expf(in[j] - max[blockIdx.x]);
	s = block_sum(s);
	if (threadIdx.x == 0)
		sum[blockIdx.x] = s;
}

static __global__ void
quotients(const float *x, float *y, const float *max, const float *sum, int cols)
{
	size_t row = (size_t)blockIdx.x * cols;

	for (int j = threadIdx.x; j < cols; j += 256)
		y[row + j] = expf(x[row + j] - max[blockIdx.x]) / sum[blockIdx.x];
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	float *scratch;

	if (cudaMallocAsync((void **)&scratch, 2 * rows * sizeof *scratch, stream) != cudaSuccess)
		return;
	maxima<<<rows, 256, 0, stream>>>(x, scratch, cols);
	sums<<<rows, 256, 0, stream>>>(x, scratch, scratch + rows, cols);
	quotients<<<rows, 256, 0, stream>>>(x, y, scratch, scratch + rows, cols);
	cudaFreeAsync(scratch, stream);
}
