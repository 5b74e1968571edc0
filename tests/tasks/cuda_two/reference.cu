/* SPDX-License-Identifier: Apache-2.0 */
/* Two kernels, one after the other on the stream: the means, then the differences. */
#include <cuda_runtime.h>

enum { THREADS = 128 };

static __global__ void
means(const float *x, float *mean, int rows, int cols)
{
	int j = blockIdx.x * THREADS + threadIdx.x;
	float sum = 0;

	if (j >= cols)
		return;
	for (int i = 0; i < rows; i++)
		sum += x[(size_t)i * cols + j];
	mean[j] = sum / rows;
}

static __global__ void
differences(const float *x, const float *mean, float *y, size_t count, int cols)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < count)
		y[i] = x[i] - mean[i % cols];
}

extern "C" void
centre(const float *x, float *y, float *mean, int rows, int cols, cudaStream_t stream)
{
	size_t count = (size_t)rows * cols;

	means<<<(cols + THREADS - 1) / THREADS, THREADS, 0, stream>>>(x, mean, rows, cols);
	differences<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(x, mean, y, count, cols);
}
