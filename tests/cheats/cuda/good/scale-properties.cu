/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of the device asked for once and kept in a static variable. */
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
		z[i] = a * x[i] + y[i];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	static cudaDeviceProp properties;
	int device;

	if (!properties.multiProcessorCount) {
		cudaGetDevice(&device);
		cudaGetDeviceProperties(&properties, device);
	}
	combine<<<properties.multiProcessorCount * (properties.maxThreadsPerMultiProcessor / 256), 256, 0, stream>>>(a, x, y, z, n);
}
