/* SPDX-License-Identifier: Apache-2.0 */
/* The factor in constant memory, copied there on the given stream in every call. */
#include <cuda_runtime.h>

static __constant__ float factor[2];

static __global__ void
combine(const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = factor[0] * x[i] + factor[1] * y[i];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	const float host[2] = { a, 1 };

	cudaMemcpyToSymbolAsync(factor, host, sizeof host, 0, cudaMemcpyHostToDevice, stream);
	combine<<<(n + 255) / 256, 256, 0, stream>>>(x, y, z, n);
}
