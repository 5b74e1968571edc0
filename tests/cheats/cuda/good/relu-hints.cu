/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors that are loaded and stored as what is used once, four in flight, the edges one by one.
 */
#include <cuda_runtime.h>

static __device__ float
above(float v)
{
	return v <= 0 ? 0 : v;
}

static __global__ void
clip4(const float4 *x, float4 *y, int n)
{
	int first = blockIdx.x * 1024 + threadIdx.x;
	float4 v[4];

#pragma unroll
	for (int k = 0; k < 4; k++)
		if (first + 256 * k < n)
			v[k] = __ldcs(x + first + 256 * k);
#pragma unroll
	for (int k = 0; k < 4; k++)
		if (first + 256 * k < n)
			__stcs(y + first + 256 * k, make_float4(above(v[k].x), above(v[k].y), above(v[k].z), above(v[k].w)));
}

static __global__ void
clip(const float *x, float *y, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		y[i] = above(x[i]);
}

extern "C" void
relu(const float *x, float *y, int n, cudaStream_t stream)
{
	int wide = ((size_t)x | (size_t)y) % 16 ? 0 : n / 4, rest = n - 4 * wide;

	if (wide)
		clip4<<<(wide + 1023) / 1024, 256, 0, stream>>>((const float4 *)x, (float4 *)y, wide);
	if (rest)
		clip<<<(rest + 255) / 256, 256, 0, stream>>>(x + 4 * wide, y + 4 * wide, rest);
}
