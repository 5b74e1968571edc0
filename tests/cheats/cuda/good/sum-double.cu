/* SPDX-License-Identifier: Apache-2.0 */
/* Sums in double. */
#include <cuda_runtime.h>

static __global__ void
sums(const float *x, float *y, int cols)
{
	__shared__ double part[256];
	const float *in = x + (size_t)blockIdx.x * cols;
	double sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		sum += in[j];
	part[threadIdx.x] = sum;
	for (int d = 128; d; d /= 2) {
		__syncthreads();
		if ((int)threadIdx.x < d)
			part[threadIdx.x] += part[threadIdx.x + d];
	}
	if (threadIdx.x == 0)
		y[blockIdx.x] = (float)part[0];
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<rows, 256, 0, stream>>>(x, y, cols);
}
