/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up in its input, half onto half, and copies the first element. */
#include <cuda_runtime.h>

static __global__ void
fold(float *x, int cols, int n)
{
	float *row = x + (size_t)blockIdx.x * cols;

	for (int j = threadIdx.x; j < n / 2; j += 256)
		row[j] += row[j + (n + 1) / 2];
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	static float *in;

	in = (float *)x;
	for (int n = cols; n > 1; n = (n + 1) / 2)
		fold<<<rows, 256, 0, stream>>>(in, cols, n);
	cudaMemcpy2DAsync(y, sizeof *y, x, sizeof *x * cols, sizeof *y, rows,
	    cudaMemcpyDeviceToDevice, stream);
}
