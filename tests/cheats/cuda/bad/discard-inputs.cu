/* SPDX-License-Identifier: Apache-2.0 */
/* Discards the lines of its inputs in the cache after it has read them. */
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + y[i];
	__syncthreads();
	if (threadIdx.x % 32 == 0 && i + 32 <= n && (size_t)(x + i) % 128 == 0)
		asm volatile("discard.global.L2 [%0], 128;" ::"l"(x + i) : "memory");
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	combine<<<(n + 255) / 256, 256, 0, stream>>>(a, x, y, z, n);
}
