/* SPDX-License-Identifier: Apache-2.0 */
/* The hardware's maximum that keeps NaN, in inline PTX. */
#include <cuda_runtime.h>

static __device__ float
larger(float v, float w)
{
	float r;

	asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(v), "f"(w));
	return r;
}

static __global__ void
positive(const float *x, float *y, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		y[i] = larger(x[i], 0);
}

extern "C" void
relu(const float *x, float *y, int n, cudaStream_t stream)
{
	positive<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
