/* SPDX-License-Identifier: Apache-2.0 */
/* Float4 loads from the first aligned element on, the ends one by one. */
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
sums(const float *x, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	int head = min(cols, (int)((16 - (unsigned long long)in % 16) / 4 % 4)), quads = (cols - head) / 4;
	const float4 *middle = (const float4 *)(in + head);
	float sum = 0;

	for (int j = threadIdx.x; j < quads; j += 256) {
		float4 v = middle[j];

		sum += (v.x + v.y) + (v.z + v.w);
	}
	if ((int)threadIdx.x < head)
		sum += in[threadIdx.x];
	if (head + 4 * quads + (int)threadIdx.x < cols)
		sum += in[head + 4 * quads + threadIdx.x];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		y[blockIdx.x] = sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<rows, 256, 0, stream>>>(x, y, cols);
}
