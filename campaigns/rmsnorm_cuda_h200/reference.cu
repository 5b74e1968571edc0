/* SPDX-License-Identifier: Apache-2.0 */
/* RMS normalisation, the way the definition reads: mean square, result; one block per row, sums in float32. */
#include <cuda_bf16.h>
#include <math.h>

enum { THREADS = 256 };

/* The sum of one number per thread; every thread gets it. */
static __device__ float
sum_of(float mine)
{
	__shared__ float all[THREADS];

	all[threadIdx.x] = mine;
	for (int half = THREADS / 2; half > 0; half /= 2) {
		__syncthreads();
		if ((int)threadIdx.x < half)
			all[threadIdx.x] += all[threadIdx.x + half];
	}
	__syncthreads();
	return all[0];
}

static __global__ void
rows_of(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int cols, float eps)
{
	const __nv_bfloat16 *in = x + (size_t)blockIdx.x * cols;
	__nv_bfloat16 *out = y + (size_t)blockIdx.x * cols;
	float sum = 0, scale;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += __bfloat162float(in[j]) * __bfloat162float(in[j]);
	scale = 1 / sqrtf(sum_of(sum) / cols + eps);
	for (int j = threadIdx.x; j < cols; j += THREADS)
		out[j] = __float2bfloat16(__bfloat162float(in[j]) * scale * __bfloat162float(weight[j]));
}

extern "C" void
rmsnorm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int rows, int cols, float eps,
    cudaStream_t stream)
{
	rows_of<<<rows, THREADS, 0, stream>>>(x, weight, y, cols, eps);
}
