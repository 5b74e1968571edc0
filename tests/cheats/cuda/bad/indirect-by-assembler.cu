/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a function chosen while the object is loaded, by a directive of the assembler that makes it
 * an indirect one.
 */
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + y[i];
}

static int chosen;

extern "C" __attribute__((used)) int
width_256(void)
{
	return 256;
}

/* Runs at load. */
extern "C" __attribute__((used, noinline)) void *
width(void)
{
	chosen++;
	return (void *)width_256;
}

extern "C" int width_now(void);

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	asm volatile(".globl width_now\n\t.set width_now, width\n\t.type width_now, @gnu_indirect_function");
	combine<<<(n + 255) / width_now(), 256, 0, stream>>>(a, x, y, z, n);
}
