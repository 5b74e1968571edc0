/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: RMS normalisation in double precision, one block per row. */
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
	return all[0];
}

static __global__ void
rows_of(const double *x, const double *weight, double *y, int cols, double eps)
{
	const double *in = x + (size_t)blockIdx.x * cols;
	double *out = y + (size_t)blockIdx.x * cols;
	double sum = 0, scale;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += in[j] * in[j];
	scale = 1 / sqrt(sum_of(sum) / cols + eps);
	for (int j = threadIdx.x; j < cols; j += THREADS)
		out[j] = in[j] * scale * weight[j];
}

extern "C" void
rmsnorm(const double *x, const double *weight, double *y, int rows, int cols, double eps,
    cudaStream_t stream)
{
	rows_of<<<rows, THREADS, 0, stream>>>(x, weight, y, cols, eps);
}
