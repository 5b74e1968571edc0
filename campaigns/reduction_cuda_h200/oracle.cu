/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: the sum of every row in double precision; one block per row. */
#include <cuda_runtime.h>

enum { THREADS = 1024 };

static __global__ void
rows_of(const double *x, double *y, int cols)
{
	__shared__ double all[THREADS];
	const double *in = x + (size_t)blockIdx.x * cols;
	double sum = 0;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += in[j];
	all[threadIdx.x] = sum;
	for (int half = THREADS / 2; half > 0; half /= 2) {
		__syncthreads();
		if ((int)threadIdx.x < half)
			all[threadIdx.x] += all[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		y[blockIdx.x] = all[0];
}

extern "C" void
row_sums(const double *x, double *y, int rows, int cols, cudaStream_t stream)
{
	rows_of<<<rows, THREADS, 0, stream>>>(x, y, cols);
}
