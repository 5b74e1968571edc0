/* SPDX-License-Identifier: Apache-2.0 */
#include "relax.h"

/* How far a value goes. */
static __device__ float step(float from, float to, float rate)
{
	return from + rate * (to - from);
}

/* A thread takes a piece of the array. */
__global__ void relax(float *x, const float *target, int n, float rate)
{
	int threads = gridDim.x * blockDim.x, each = (n + threads - 1) / threads;
	int begin = (blockIdx.x * blockDim.x + threadIdx.x) * each;

	for (int i = begin; i < begin + each && i < n; i++)
		x[i] = step(x[i], target[i], rate);
}
