/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses between two functions by a table of their addresses in the memory of the device. */
#include <cuda_runtime.h>

typedef void (*piece_fn)(float a, const float *x, const float *y, float *z, size_t at);

static __device__ void
one(float a, const float *x, const float *y, float *z, size_t at)
{
	z[at] = fmaf(a, x[at], y[at]);
}

static __device__ void
four(float a, const float *x, const float *y, float *z, size_t at)
{
	float4 u = ((const float4 *)x)[at], v = ((const float4 *)y)[at];

	((float4 *)z)[at] = make_float4(fmaf(a, u.x, v.x), fmaf(a, u.y, v.y), fmaf(a, u.z, v.z), fmaf(a, u.w, v.w));
}

static __device__ piece_fn const pieces[] = { one, four };

static __global__ void
combine(int which, float a, const float *x, const float *y, float *z, size_t count)
{
	size_t at = (size_t)blockIdx.x * 256 + threadIdx.x;

	if (at < count)
		pieces[which](a, x, y, z, at);
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	bool aligned = ((size_t)x | (size_t)y | (size_t)z) % 16 == 0;
	int wide = aligned ? n / 4 : 0, rest = n - 4 * wide;

	if (wide)
		combine<<<(wide + 255) / 256, 256, 0, stream>>>(1, a, x, y, z, wide);
	if (rest)
		combine<<<(rest + 255) / 256, 256, 0, stream>>>(0, a, x + 4 * wide, y + 4 * wide, z + 4 * wide, rest);
}
