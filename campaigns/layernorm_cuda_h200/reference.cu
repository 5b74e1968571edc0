/* SPDX-License-Identifier: Apache-2.0 */
/* Layer normalisation, the way the definition reads: mean, variance, result; one block per row, sums in float32. */
#include <cuda_fp16.h>
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
	mine = all[0];
	__syncthreads();	/* all have read it before it is used again */
	return mine;
}

static __global__ void
rows_of(const __half *x, const float *gamma, const float *beta, __half *y, int cols, float eps)
{
	const __half *in = x + (size_t)blockIdx.x * cols;
	__half *out = y + (size_t)blockIdx.x * cols;
	float sum = 0, mean, scale;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += __half2float(in[j]);
	mean = sum_of(sum) / cols;
	sum = 0;
	for (int j = threadIdx.x; j < cols; j += THREADS) {
		float d = __half2float(in[j]) - mean;

		sum += d * d;
	}
	scale = 1 / sqrtf(sum_of(sum) / cols + eps);
	for (int j = threadIdx.x; j < cols; j += THREADS)
		out[j] = __float2half((__half2float(in[j]) - mean) * scale * gamma[j] + beta[j]);
}

extern "C" void
layernorm(const __half *x, const float *gamma, const float *beta, __half *y, int rows, int cols, float eps,
    cudaStream_t stream)
{
	rows_of<<<rows, THREADS, 0, stream>>>(x, gamma, beta, y, cols, eps);
}
