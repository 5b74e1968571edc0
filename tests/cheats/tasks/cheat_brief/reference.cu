/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with: one block for each row, sums in double. */
#include <cuda_runtime.h>

enum { THREADS = 256 };

static __global__ void
normalise(const float *x, const float *g, float c, float *y, int cols)
{
	__shared__ double part[THREADS];
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols;
	double sum = 0;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += (double)in[j] * in[j];
	part[threadIdx.x] = sum;
	__syncthreads();
	sum = 0;
	for (int u = 0; u < THREADS; u++)
		sum += part[u];
	sum = 1 / sqrt(sum / cols + c);
	for (int j = threadIdx.x; j < cols; j += THREADS)
		out[j] = (float)(in[j] * sum * g[j]);
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	normalise<<<rows, THREADS, 0, stream>>>(x, g, c, y, cols);
}
