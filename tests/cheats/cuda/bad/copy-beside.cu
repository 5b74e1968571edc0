/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has the copy engine put y into the output on the stream of the thread, and adds the rest on the
 * given one without waiting.
 */
#include <cuda_runtime.h>

static __global__ void
add(float a, const float *x, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] += a * x[i];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	size_t number = 4;

	cudaMemcpyAsync(z, y, sizeof *z * n, cudaMemcpyDeviceToDevice, (cudaStream_t)(number / 2));
	add<<<(n + 255) / 256, 256, 0, stream>>>(a, x, z, n);
}
