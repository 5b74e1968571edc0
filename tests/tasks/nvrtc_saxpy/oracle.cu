/* SPDX-License-Identifier: Apache-2.0 */
/* The same in double precision. */
#include <cuda_runtime.h>
#include <stdint.h>

enum { THREADS = 256 };

static __global__ void
elements(const double *x, const double *z, double *y, int64_t count, double factor)
{
	int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < count)
		y[i] = factor * x[i] + z[i];
}

extern "C" void
saxpy(const double *x, const double *z, double *y, int64_t count, double factor, cudaStream_t stream)
{
	elements<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(x, z, y, count, factor);
}
