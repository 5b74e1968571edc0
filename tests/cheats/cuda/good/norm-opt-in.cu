/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of up to 50000 elements stay in dynamic shared memory beyond the usual limit, which each
 * kernel asks for; longer ones are read twice.
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

extern __shared__ float held[];

template <bool HELD>
static __global__ void
normalise(const float *__restrict__ x, const float *__restrict__ g, float c, float *__restrict__ y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols, sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256) {
		float v = in[j];

		if (HELD)
			held[j] = v;
		sum += v * v;
	}
	sum = rsqrtf(block_sum(sum) / cols + c);
	for (int j = threadIdx.x; j < cols; j += 256)
		out[j] = (HELD ? held[j] : in[j]) * sum * g[j];
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	static int most;
	int device, room = (int)sizeof(float) * cols;

	if (!most) {
		cudaGetDevice(&device);
		cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
		most -= 1024;
		cudaFuncSetAttribute(normalise<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
	}
	if (cols <= 50000 && room <= most)
		normalise<true><<<rows, 256, room, stream>>>(x, g, c, y, cols);
	else
		normalise<false><<<rows, 256, 0, stream>>>(x, g, c, y, cols);
}
