/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and what their rounding loses, kept as two numbers throughout. */
#include <cuda_runtime.h>

/* The sum of a and b, and exactly what it is off by. */
static __device__ float2
add(float2 a, float b, float low)
{
	float s = __fadd_rn(a.x, b), t = __fadd_rn(s, -a.x);
	float off = __fadd_rn(__fadd_rn(a.x, -__fadd_rn(s, -t)), __fadd_rn(b, -t));

	return make_float2(s, a.y + off + low);
}

static __global__ void
sums(const float *x, float *y, int cols)
{
	__shared__ float2 part[128];
	const float *in = x + (size_t)blockIdx.x * cols;
	float2 sum = make_float2(0, 0);

	for (int j = threadIdx.x; j < cols; j += 128)
		sum = add(sum, in[j], 0);
	part[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x)
		return;
	for (int u = 1; u < 128; u++)
		sum = add(sum, part[u].x, part[u].y);
	y[blockIdx.x] = sum.x + sum.y;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<rows, 128, 0, stream>>>(x, y, cols);
}
