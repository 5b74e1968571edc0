/* SPDX-License-Identifier: Apache-2.0 */
/* Y is copied to the output by the copy engine, then a * x is added in place. */
#include <cuda_runtime.h>

static __global__ void
add(float a, const float *x, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + z[i];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	cudaMemcpyAsync(z, y, sizeof *z * n, cudaMemcpyDeviceToDevice, stream);
	add<<<(n + 255) / 256, 256, 0, stream>>>(a, x, z, n);
}
