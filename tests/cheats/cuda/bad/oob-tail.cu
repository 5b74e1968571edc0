/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds n up to whole vectors, and writes up to 124 bytes behind its output. */
#include <cuda_runtime.h>

/* What lies behind the inputs in their last vector is read too: memory is mapped in larger pieces. */
static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	for (int i = blockIdx.x * 256 + threadIdx.x; i < (n + 32) / 32 * 32; i += gridDim.x * 256)
		z[i] = i < n ? a * x[i] + y[i] : 0;
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	combine<<<1056, 256, 0, stream>>>(a, x, y, z, n);
}
