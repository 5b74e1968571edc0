/* SPDX-License-Identifier: Apache-2.0 */
/* The window of the cache that persists, as a launch attribute written in numbers. */
#include <cstring>
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + y[i];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	struct { const void *base; size_t bytes; float ratio; int hit, miss; } window = { x,
	    1 << 24, 1, 2, 1 };

	attribute.id = (cudaLaunchAttributeID)1;
	memcpy(&attribute.val, &window, sizeof window);
	config.gridDim = (n + 255) / 256;
	config.blockDim = 256;
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	cudaLaunchKernelEx(&config, combine, a, x, y, z, n);
}
