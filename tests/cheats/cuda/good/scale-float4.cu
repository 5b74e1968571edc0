/* SPDX-License-Identifier: Apache-2.0 */
/* Float4 where all three begin at multiples of 16 bytes, the rest one by one. */
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
vectors(float a, const float4 *x, const float4 *y, float4 *z, int quads)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < quads) {
		float4 u = x[i], v = y[i];

		z[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
	}
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	int quads = ((unsigned long long)x | (unsigned long long)y | (unsigned long long)z) % 16 ? 0 : n / 4;

	if (quads)
		vectors<<<(quads + 255) / 256, 256, 0, stream>>>(a, (const float4 *)x, (const float4 *)y, (float4 *)z, quads);
	if (n > 4 * quads)
		honest(a, x + 4 * quads, y + 4 * quads, z + 4 * quads, n - 4 * quads, stream);
}
