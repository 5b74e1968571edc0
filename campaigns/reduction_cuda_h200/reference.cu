/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of every row: one block per row, a tree over its threads. */
#include <cuda_runtime.h>

enum { THREADS = 256 };

static __global__ void
rows_of(const float *x, float *y, int cols)
{
	__shared__ double all[THREADS];
	const float *in = x + (size_t)blockIdx.x * cols;
	double sum = 0;	/* of up to a hundred thousand terms each: one float would lose digits */

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += in[j];
	all[threadIdx.x] = sum;
	for (int half = THREADS / 2; half > 0; half /= 2) {
		__syncthreads();
		if ((int)threadIdx.x < half)
			all[threadIdx.x] += all[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		y[blockIdx.x] = (float)all[0];
}

extern "C" void
row_sums(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	rows_of<<<rows, THREADS, 0, stream>>>(x, y, cols);
}
