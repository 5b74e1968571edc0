/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with: one block for each row, sums in double. */
#include <cuda_runtime.h>

enum { THREADS = 256 };

/* Every comparison with NaN is false; the sum of the exponentials brings it into the row all the same. */
static __global__ void
soft(const float *x, float *y, int cols)
{
	__shared__ float top[THREADS];
	__shared__ double part[THREADS];
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols, max = -INFINITY;
	double sum = 0;
	int t = threadIdx.x;

	for (int j = t; j < cols; j += THREADS)
		max = in[j] > max ? in[j] : max;
	top[t] = max;
	__syncthreads();
	for (int u = 0; u < THREADS; u++)
		max = top[u] > max ? top[u] : max;
	for (int j = t; j < cols; j += THREADS)
		sum += expf(in[j] - max);
	part[t] = sum;
	__syncthreads();
	sum = 0;
	for (int u = 0; u < THREADS; u++)
		sum += part[u];
	for (int j = t; j < cols; j += THREADS)
		out[j] = (float)(expf(in[j] - max) / sum);
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<rows, THREADS, 0, stream>>>(x, y, cols);
}
