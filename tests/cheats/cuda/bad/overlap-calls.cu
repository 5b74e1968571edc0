/* SPDX-License-Identifier: Apache-2.0 */
/* Lets each call's kernel begin while that of the call before is at work, by a programmatic launch that waits for nothing. */
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	asm volatile("griddepcontrol.launch_dependents;");
	if (i < n)
		z[i] = a * x[i] + y[i];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	cudaLaunchAttribute early = {};
	cudaLaunchConfig_t c = {};

	early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	early.val.programmaticStreamSerializationAllowed = 1;
	c.gridDim = dim3((n + 255) / 256);
	c.blockDim = dim3(256);
	c.stream = stream;
	c.attrs = &early;
	c.numAttrs = 1;
	cudaLaunchKernelEx(&c, combine, a, x, y, z, n);
}
