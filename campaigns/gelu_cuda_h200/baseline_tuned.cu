/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A yardstick by hand: a thread keeps the bias of eight columns and goes down the rows with 16-byte loads and
 * stores.
 */
#include <cuda_bf16.h>
#include <math.h>

enum { THREADS = 256, ROWS = 4 };

struct __align__(16) eight { __nv_bfloat162 pair[4]; };

static __device__ float
gelu(float v)
{
	return 0.5f * v * (1 + erff(v * 0.70710678f));
}

/* Eight columns of ROWS rows per thread; cols is a multiple of 8. */
static __global__ void __launch_bounds__(THREADS)
vectors(const eight *x, const eight *bias, eight *y, int rows, int groups)
{
	int group = blockIdx.y * THREADS + threadIdx.x, first = blockIdx.x * ROWS;
	eight b, v[ROWS];

	if (group >= groups)
		return;
	b = bias[group];
#pragma unroll
	for (int i = 0; i < ROWS; i++)
		if (first + i < rows)
			v[i] = x[(size_t)(first + i) * groups + group];
#pragma unroll
	for (int i = 0; i < ROWS; i++)
		if (first + i < rows) {
#pragma unroll
			for (int p = 0; p < 4; p++) {
				float2 a = __bfloat1622float2(v[i].pair[p]), c = __bfloat1622float2(b.pair[p]);

				v[i].pair[p] = __floats2bfloat162_rn(gelu(a.x + c.x), gelu(a.y + c.y));
			}
			y[(size_t)(first + i) * groups + group] = v[i];
		}
}

static __global__ void __launch_bounds__(THREADS)
elements(const __nv_bfloat16 *x, const __nv_bfloat16 *bias, __nv_bfloat16 *y, size_t count, int cols)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < count)
		y[i] = __float2bfloat16(gelu(__bfloat162float(x[i]) + __bfloat162float(bias[i % cols])));
}

extern "C" void
bias_gelu(const __nv_bfloat16 *x, const __nv_bfloat16 *bias, __nv_bfloat16 *y, int rows, int cols, cudaStream_t stream)
{
	size_t count = (size_t)rows * cols;

	if (cols % 8 == 0) {
		dim3 grid((rows + ROWS - 1) / ROWS, (cols / 8 + THREADS - 1) / THREADS);

		vectors<<<grid, THREADS, 0, stream>>>((const eight *)x, (const eight *)bias, (eight *)y, rows,
		    cols / 8);
	} else
		elements<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(x, bias, y, count, cols);
}
