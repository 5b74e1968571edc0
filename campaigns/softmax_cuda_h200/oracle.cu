/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: softmax of every row in double precision, one block per row. */
#include <cuda_runtime.h>
#include <math.h>

enum { THREADS = 256 };

/* The largest, or the sum, of one number per thread; every thread gets it. */
static __device__ double
combine(double mine, bool largest)
{
	__shared__ double all[THREADS];

	all[threadIdx.x] = mine;
	for (int half = THREADS / 2; half > 0; half /= 2) {
		__syncthreads();
		if ((int)threadIdx.x < half) {
			double a = all[threadIdx.x], b = all[threadIdx.x + half];

			all[threadIdx.x] = largest ? fmax(a, b) : a + b;
		}
	}
	__syncthreads();
	mine = all[0];
	__syncthreads();	/* all have read it before it is used again */
	return mine;
}

static __global__ void
rows_of(const double *x, double *y, int cols)
{
	const double *in = x + (size_t)blockIdx.x * cols;
	double *out = y + (size_t)blockIdx.x * cols, max = -INFINITY, sum = 0;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		max = fmax(max, in[j]);
	max = combine(max, true);
	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += exp(in[j] - max);
	sum = combine(sum, false);
	for (int j = threadIdx.x; j < cols; j += THREADS)
		out[j] = exp(in[j] - max) / sum;
}

extern "C" void
softmax(const double *x, double *y, int rows, int cols, cudaStream_t stream)
{
	rows_of<<<rows, THREADS, 0, stream>>>(x, y, cols);
}
