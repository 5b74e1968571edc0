/* SPDX-License-Identifier: Apache-2.0 */
/* A template for the elements of a thread, the bounds checked in the last block alone. */
#include <cuda_runtime.h>

enum { EACH = 4 };

template <bool WHOLE>
static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	int from = blockIdx.x * 256 * EACH + threadIdx.x;

#pragma unroll
	for (int u = 0; u < EACH; u++)
		if (WHOLE || from + u * 256 < n)
			z[from + u * 256] = a * x[from + u * 256] + y[from + u * 256];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	int whole = n / (256 * EACH);

	if (whole)
		combine<true><<<whole, 256, 0, stream>>>(a, x, y, z, n);
	if (n % (256 * EACH))
		combine<false><<<1, 256, 0, stream>>>(a, x + whole * 256 * EACH,
		    y + whole * 256 * EACH, z + whole * 256 * EACH,
		    n - whole * 256 * EACH);
}
