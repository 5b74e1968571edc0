/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A yardstick by hand: a row that fits stays in the registers of its block, loaded 16 bytes at a time and read once;
 * others are read twice, element by element.
 */
#include <cuda_bf16.h>

enum { THREADS = 256, VECTORS = 4 };

struct __align__(16) eight { __nv_bfloat162 pair[4]; };

/* The sum over the block; every thread gets it. */
static __device__ float
block_sum(float v)
{
	__shared__ float part[THREADS / 32];

	for (int step = 16; step > 0; step /= 2)
		v += __shfl_xor_sync(0xffffffff, v, step);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = 0;
	for (int i = 0; i < THREADS / 32; i++)
		v += part[i];
	return v;
}

/* cols is 8 * groups, and at most 8 * THREADS * VECTORS. */
static __global__ void __launch_bounds__(THREADS)
short_rows(const eight *x, const eight *weight, eight *y, int groups, float eps)
{
	const eight *in = x + (size_t)blockIdx.x * groups;
	eight *out = y + (size_t)blockIdx.x * groups, v[VECTORS];
	float sum = 0, scale;

#pragma unroll
	for (int i = 0; i < VECTORS; i++) {
		int at = i * THREADS + threadIdx.x;

		if (at < groups) {
			v[i] = in[at];
#pragma unroll
			for (int p = 0; p < 4; p++) {
				float2 f = __bfloat1622float2(v[i].pair[p]);

				sum += f.x * f.x + f.y * f.y;
			}
		}
	}
	scale = rsqrtf(block_sum(sum) / (8 * groups) + eps);
#pragma unroll
	for (int i = 0; i < VECTORS; i++) {
		int at = i * THREADS + threadIdx.x;

		if (at < groups) {
			eight w = weight[at];

#pragma unroll
			for (int p = 0; p < 4; p++) {
				float2 f = __bfloat1622float2(v[i].pair[p]), g = __bfloat1622float2(w.pair[p]);

				v[i].pair[p] = __floats2bfloat162_rn(f.x * scale * g.x, f.y * scale * g.y);
			}
			out[at] = v[i];
		}
	}
}

static __global__ void __launch_bounds__(THREADS)
other_rows(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int cols, float eps)
{
	const __nv_bfloat16 *in = x + (size_t)blockIdx.x * cols;
	__nv_bfloat16 *out = y + (size_t)blockIdx.x * cols;
	float sum = 0, scale;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += __bfloat162float(in[j]) * __bfloat162float(in[j]);
	scale = rsqrtf(block_sum(sum) / cols + eps);
	for (int j = threadIdx.x; j < cols; j += THREADS)
		out[j] = __float2bfloat16(__bfloat162float(in[j]) * scale * __bfloat162float(weight[j]));
}

extern "C" void
rmsnorm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int rows, int cols, float eps,
    cudaStream_t stream)
{
	if (cols % 8 == 0 && cols <= 8 * THREADS * VECTORS)
		short_rows<<<rows, THREADS, 0, stream>>>((const eight *)x, (const eight *)weight, (eight *)y, cols / 8,
		    eps);
	else
		other_rows<<<rows, THREADS, 0, stream>>>(x, weight, y, cols, eps);
}
