/* SPDX-License-Identifier: Apache-2.0 */
/* Bias and GELU, the way the definition reads: one thread per element, mathematics in float32. */
#include <cuda_bf16.h>
#include <math.h>

enum { THREADS = 256 };

static __global__ void
elements(const __nv_bfloat16 *x, const __nv_bfloat16 *bias, __nv_bfloat16 *y, size_t count, int cols)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < count) {
		float v = __bfloat162float(x[i]) + __bfloat162float(bias[i % cols]);

		y[i] = __float2bfloat16(0.5f * v * (1 + erff(v * 0.70710678f)));
	}
}

extern "C" void
bias_gelu(const __nv_bfloat16 *x, const __nv_bfloat16 *bias, __nv_bfloat16 *y, int rows, int cols, cudaStream_t stream)
{
	size_t count = (size_t)rows * cols;

	elements<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(x, bias, y, count, cols);
}
