/* SPDX-License-Identifier: Apache-2.0 */
/* What is right, in double precision: one block for each row. */
#include <cuda_runtime.h>

enum { THREADS = 256 };

static __global__ void
normalise(const double *x, const double *g, double c, double *y, int cols)
{
	__shared__ double part[THREADS];
	const double *in = x + (size_t)blockIdx.x * cols;
	double *out = y + (size_t)blockIdx.x * cols;
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
		out[j] = (double)(in[j] * sum * g[j]);
}

extern "C" void
row_norm(const double *x, const double *g, double c, double *y, int rows, int cols, cudaStream_t stream)
{
	normalise<<<rows, THREADS, 0, stream>>>(x, g, c, y, cols);
}
