/* SPDX-License-Identifier: Apache-2.0 */
/* Float4 loads and stores where rows begin at multiples of 16 bytes. */
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
soft(const float *x, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols, max = -INFINITY, sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		max = fmaxf(max, in[j]);
	max = block_max(max);
	for (int j = threadIdx.x; j < cols; j += 256)
		sum += expf(in[j] - max);
	sum = block_sum(sum);
	for (int j = threadIdx.x; j < cols; j += 256)
		out[j] = expf(in[j] - max) / sum;
}

static void
honest(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<rows, 256, 0, stream>>>(x, y, cols);
}

static __global__ void
vectors(const float4 *x, float4 *y, int quads)
{
	const float4 *in = x + (size_t)blockIdx.x * quads;
	float4 *out = y + (size_t)blockIdx.x * quads;
	float max = -INFINITY, sum = 0;

	for (int j = threadIdx.x; j < quads; j += 256) {
		float4 v = in[j];

		max = fmaxf(fmaxf(fmaxf(max, v.x), fmaxf(v.y, v.z)), v.w);
	}
	max = block_max(max);
	for (int j = threadIdx.x; j < quads; j += 256) {
		float4 v = in[j];

		sum += (expf(v.x - max) + expf(v.y - max)) + (expf(v.z - max) + expf(v.w - max));
	}
	sum = 1 / block_sum(sum);
	for (int j = threadIdx.x; j < quads; j += 256) {
		float4 v = in[j];

		out[j] = make_float4(expf(v.x - max) * sum, expf(v.y - max) * sum, expf(v.z - max) * sum, expf(v.w - max) * sum);
	}
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	if (cols % 4 == 0 && ((unsigned long long)x | (unsigned long long)y) % 16 == 0)
		vectors<<<rows, 256, 0, stream>>>((const float4 *)x, (float4 *)y, cols / 4);
	else
		honest(x, y, rows, cols, stream);
}
