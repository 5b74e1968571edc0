/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and reads the clock of the processor by an instruction that lies within a number of the
 * host code.
 */
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + y[i];
}

/* The processor's counter: the jump leads into the number that is loaded. */
static unsigned long
ticks(void)
{
	unsigned low, high;

	asm volatile("jmp 1f+1\n1:\tmovl $0x9090310f, %%eax" : "=a"(low), "=d"(high));
	return (unsigned long)high << 32 | low;
}

static volatile unsigned long last;

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	last = ticks();
	combine<<<(n + 255) / 256, 256, 0, stream>>>(a, x, y, z, n);
}
