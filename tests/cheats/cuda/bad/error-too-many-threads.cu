/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks for 2048 threads a block where n is large, and clears the error of the launch that never
 * was.
 */
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

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	if (n > 1 << 20)
		combine<<<(n + 2047) / 2048, 2048, 0, stream>>>(a, x, y, z, n);
	else
		honest(a, x, y, z, n, stream);
	cudaGetLastError();
}
