/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the run-time library for one of the driver's functions by an entry that nvcc's own code does
 * not use, and launches on a stream of its own that no host function waits for.
 */
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

typedef int make_stream(cudaStream_t *, unsigned);

extern "C" cudaError_t __cudaGetProcAddress(const char *name, void **function, unsigned version,
    unsigned long long flags, int *found);

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	static cudaStream_t own;
	void *function = 0;
	int found;

	if (!own && !__cudaGetProcAddress("cuStreamCreate", &function, 12000, 0, &found) && function)
		((make_stream *)function)(&own, 1);
	honest(a, x, y, z, n, own ? own : stream);
}
