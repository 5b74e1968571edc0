/* SPDX-License-Identifier: Apache-2.0 */
/* Host code with inline assembly in capitals that only counts the trailing zeros of n, to choose the vector. */
#include <cuda_runtime.h>

template <int W> static __global__ void
some(float a, const float *x, const float *y, float *z, int n)
{
	int i = (blockIdx.x * blockDim.x + threadIdx.x) * W;

#pragma unroll
	for (int k = 0; k < W; k++)
		if (i + k < n)
			z[i + k] = a * x[i + k] + y[i + k];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	unsigned zeros = 0;

#if defined(__x86_64__)
	asm("BSFL %1, %0" : "=r"(zeros) : "r"((unsigned)n));
#endif
	if (zeros >= 2)
		some<4><<<(n / 4 + 255) / 256, 256, 0, stream>>>(a, x, y, z, n);
	else
		some<1><<<(n + 255) / 256, 256, 0, stream>>>(a, x, y, z, n);
}
