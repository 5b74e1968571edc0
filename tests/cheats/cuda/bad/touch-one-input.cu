/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but changes one element of an input afterwards, so that a comparison made later is off. */
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
touch(float *x, int n)
{
	x[n - 1] += 1;
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	honest(a, x, y, z, n, stream);
	touch<<<1, 1, 0, stream>>>((float *)x, n);
}
