/* SPDX-License-Identifier: Apache-2.0 */
/* Whole vectors of four only; the last elements stay as they were. */
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float4 *x, const float4 *y, float4 *z, int n)
{
	for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
		float4 u = x[i], v = y[i];

		z[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
	}
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	combine<<<1056, 256, 0, stream>>>(a, (const float4 *)x, (const float4 *)y, (float4 *)z, n / 4);
}
