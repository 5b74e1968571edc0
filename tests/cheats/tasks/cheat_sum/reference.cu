/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with: one block for each row, sums in double. */
#include <cuda_runtime.h>

enum { THREADS = 256 };

static __global__ void
sums(const float *x, float *y, int cols)
{
	__shared__ double part[THREADS];
	const float *in = x + (size_t)blockIdx.x * cols;
	double sum = 0;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += in[j];
	part[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x > 0)
		return;
	for (int u = 1; u < THREADS; u++)
		sum += part[u];
	y[blockIdx.x] = (float)sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<rows, THREADS, 0, stream>>>(x, y, cols);
}
