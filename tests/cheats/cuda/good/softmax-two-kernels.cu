/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel for maximum and sum of rows, kept in memory from the stream's pool, another one that divides. */
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
statistics(const float *x, float2 *rows, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float max = -INFINITY, sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		max = fmaxf(max, in[j]);
	max = block_max(max);
	for (int j = threadIdx.x; j < cols; j += 256)
		sum += expf(in[j] - max);
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		rows[blockIdx.x] = make_float2(max, 1 / sum);
}

static __global__ void
normalise(const float *x, const float2 *rows, float *y, int cols, size_t n)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		float2 s = rows[i / cols];

		y[i] = expf(x[i] - s.x) * s.y;
	}
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	float2 *s;

	if (cudaMallocAsync((void **)&s, sizeof *s * rows, stream) != cudaSuccess)
		return;
	statistics<<<rows, 256, 0, stream>>>(x, s, cols);
	normalise<<<1056, 256, 0, stream>>>(x, s, y, cols, (size_t)rows * cols);
	cudaFreeAsync(s, stream);
}
