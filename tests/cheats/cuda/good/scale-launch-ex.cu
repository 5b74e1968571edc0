/* SPDX-License-Identifier: Apache-2.0 */
/* The extensible launch, with a priority of zero as its one attribute. */
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

	attribute.id = cudaLaunchAttributePriority;
	attribute.val.priority = 0;
	config.gridDim = (n + 255) / 256;
	config.blockDim = 256;
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	cudaLaunchKernelEx(&config, combine, a, x, y, z, n);
}
