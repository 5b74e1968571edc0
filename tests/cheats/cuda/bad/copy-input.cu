/* SPDX-License-Identifier: Apache-2.0 */
/* Copies an input to the output. */
#include <cuda_runtime.h>

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	(void)a, (void)x;
	cudaMemcpyAsync(z, y, sizeof *z * n, cudaMemcpyDeviceToDevice, stream);
}
