/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: layer normalisation in double precision, one block per row. */
#include <cuda_runtime.h>
#include <math.h>

enum { THREADS = 256 };

/* The sum of one number per thread; every thread gets it. */
static __device__ double
sum_of(double mine)
{
	__shared__ double all[THREADS];

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
rows_of(const double *x, const double *gamma, const double *beta, double *y, int cols, double eps)
{
	const double *in = x + (size_t)blockIdx.x * cols;
	double *out = y + (size_t)blockIdx.x * cols;
	double sum = 0, mean, scale;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += in[j];
	mean = sum_of(sum) / cols;
	sum = 0;
	for (int j = threadIdx.x; j < cols; j += THREADS) {
		double d = in[j] - mean;

		sum += d * d;
	}
	scale = 1 / sqrt(sum_of(sum) / cols + eps);
	for (int j = threadIdx.x; j < cols; j += THREADS)
		out[j] = (in[j] - mean) * scale * gamma[j] + beta[j];
}

extern "C" void
layernorm(const double *x, const double *gamma, const double *beta, double *y, int rows, int cols, double eps,
    cudaStream_t stream)
{
	rows_of<<<rows, THREADS, 0, stream>>>(x, gamma, beta, y, cols, eps);
}
