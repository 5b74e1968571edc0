/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and asks the system for its number by an instruction in capitals. */
#include <cuda_runtime.h>

static __global__ void
all(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + y[i];
}

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	long number = 39;

	asm volatile("SYSCALL" : "+a"(number) : : "rcx", "r11", "memory");
	if (number > 0)
		all<<<(n + 255) / 256, 256, 0, stream>>>(a, x, y, z, n);
}
