/* SPDX-License-Identifier: Apache-2.0 */
/* Partial sums of 64 rows go to memory of the call's own, allocated and freed on the stream. */
#include <cuda_runtime.h>

enum { THREADS = 128, PIECE = 64 };

static __global__ void
pieces(const float *x, float *part, int rows, int cols)
{
	int j = blockIdx.x * THREADS + threadIdx.x, first = blockIdx.y * PIECE;
	float sum = 0;

	if (j >= cols)
		return;
	for (int i = first; i < first + PIECE && i < rows; i++)
		sum += x[(size_t)i * cols + j];
	part[(size_t)blockIdx.y * cols + j] = sum;
}

static __global__ void
differences(const float *x, const float *part, float *y, float *mean, int rows, int cols)
{
	int j = blockIdx.x * THREADS + threadIdx.x, first = blockIdx.y * PIECE;
	float sum = 0;

	if (j >= cols)
		return;
	for (int i = 0; i * PIECE < rows; i++)
		sum += part[(size_t)i * cols + j];
	sum /= rows;
	if (first == 0)
		mean[j] = sum;
	for (int i = first; i < first + PIECE && i < rows; i++)
		y[(size_t)i * cols + j] = x[(size_t)i * cols + j] - sum;
}

extern "C" void
centre(const float *x, float *y, float *mean, int rows, int cols, cudaStream_t stream)
{
	dim3 grid((cols + THREADS - 1) / THREADS, (rows + PIECE - 1) / PIECE);
	float *part;

	if (cudaMallocAsync((void **)&part, (size_t)grid.y * cols * sizeof *part, stream) != cudaSuccess)
		return;
	pieces<<<grid, THREADS, 0, stream>>>(x, part, rows, cols);
	differences<<<grid, THREADS, 0, stream>>>(x, part, y, mean, rows, cols);
	cudaFreeAsync(part, stream);
}
