/* SPDX-License-Identifier: Apache-2.0 */
/* Half of the number and its amount: minus infinity and infinity make NaN. */
#include <cuda_runtime.h>

static __global__ void
positive(const float *x, float *y, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		y[i] = (x[i] + fabsf(x[i])) * 0.5f;
}

extern "C" void
relu(const float *x, float *y, int n, cudaStream_t stream)
{
	positive<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
