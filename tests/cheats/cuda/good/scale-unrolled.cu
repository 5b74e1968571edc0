/* SPDX-License-Identifier: Apache-2.0 */
/* A grid-stride loop with eight loads in flight. */
#include <cuda_runtime.h>

enum { UNROLL = 8 };

static __global__ void
combine(float a, const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z, int n)
{
	for (long i0 = (long)blockIdx.x * 256 * UNROLL; i0 < n; i0 += (long)gridDim.x * 256 * UNROLL) {
		float u[UNROLL], v[UNROLL];

#pragma unroll
		for (int r = 0; r < UNROLL; r++) {
			long i = i0 + r * 256 + threadIdx.x;

			u[r] = i < n ? x[i] : 0;
			v[r] = i < n ? y[i] : 0;
		}
#pragma unroll
		for (int r = 0; r < UNROLL; r++) {
			long i = i0 + r * 256 + threadIdx.x;

			if (i < n)
				z[i] = a * u[r] + v[r];
		}
	}
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	combine<<<1056, 256, 0, stream>>>(a, x, y, z, n);
}
