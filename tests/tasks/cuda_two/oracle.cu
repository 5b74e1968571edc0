/* SPDX-License-Identifier: Apache-2.0 */
/* The same in double precision. */
#include <cuda_runtime.h>

enum { THREADS = 128 };

static __global__ void
means(const double *x, double *mean, int rows, int cols)
{
	int j = blockIdx.x * THREADS + threadIdx.x;
	double sum = 0;

	if (j >= cols)
		return;
	for (int i = 0; i < rows; i++)
		sum += x[(size_t)i * cols + j];
	mean[j] = sum / rows;
}

static __global__ void
differences(const double *x, const double *mean, double *y, size_t count, int cols)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < count)
		y[i] = x[i] - mean[i % cols];
}

extern "C" void
centre(const double *x, double *y, double *mean, int rows, int cols, cudaStream_t stream)
{
	size_t count = (size_t)rows * cols;

	means<<<(cols + THREADS - 1) / THREADS, THREADS, 0, stream>>>(x, mean, rows, cols);
	differences<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(x, mean, y, count, cols);
}
