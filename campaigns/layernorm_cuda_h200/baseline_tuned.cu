/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A yardstick by hand: a row that fits stays in the registers of its block, loaded 16 bytes at a time and read once;
 * others are read three times, element by element.
 */
#include <cuda_fp16.h>

enum { THREADS = 256, VECTORS = 4 };

struct __align__(16) eight { __half2 pair[4]; };

/* The sum over the block; every thread gets it. */
static __device__ float
block_sum(float v)
{
	__shared__ float part[THREADS / 32];

	for (int step = 16; step > 0; step /= 2)
		v += __shfl_xor_sync(0xffffffff, v, step);
	__syncthreads();	/* the parts of the sum before have been read */
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
short_rows(const eight *x, const float4 *gamma, const float4 *beta, eight *y, int groups, float eps)
{
	const eight *in = x + (size_t)blockIdx.x * groups;
	eight *out = y + (size_t)blockIdx.x * groups;
	float v[VECTORS][8], sum = 0, mean, scale;

#pragma unroll
	for (int i = 0; i < VECTORS; i++) {
		int at = i * THREADS + threadIdx.x;

		if (at < groups) {
			eight e = in[at];

#pragma unroll
			for (int p = 0; p < 4; p++) {
				float2 f = __half22float2(e.pair[p]);

				v[i][2 * p] = f.x;
				v[i][2 * p + 1] = f.y;
				sum += f.x + f.y;
			}
		}
	}
	mean = block_sum(sum) / (8 * groups);
	sum = 0;
#pragma unroll
	for (int i = 0; i < VECTORS; i++)
		if (i * THREADS + (int)threadIdx.x < groups)
#pragma unroll
			for (int p = 0; p < 8; p++) {
				v[i][p] -= mean;
				sum += v[i][p] * v[i][p];
			}
	scale = rsqrtf(block_sum(sum) / (8 * groups) + eps);
#pragma unroll
	for (int i = 0; i < VECTORS; i++) {
		int at = i * THREADS + threadIdx.x;

		if (at < groups) {
			float4 g = gamma[2 * at], h = gamma[2 * at + 1], b = beta[2 * at], c = beta[2 * at + 1];
			eight e;

			e.pair[0] = __floats2half2_rn(v[i][0] * scale * g.x + b.x, v[i][1] * scale * g.y + b.y);
			e.pair[1] = __floats2half2_rn(v[i][2] * scale * g.z + b.z, v[i][3] * scale * g.w + b.w);
			e.pair[2] = __floats2half2_rn(v[i][4] * scale * h.x + c.x, v[i][5] * scale * h.y + c.y);
			e.pair[3] = __floats2half2_rn(v[i][6] * scale * h.z + c.z, v[i][7] * scale * h.w + c.w);
			out[at] = e;
		}
	}
}

static __global__ void __launch_bounds__(THREADS)
other_rows(const __half *x, const float *gamma, const float *beta, __half *y, int cols, float eps)
{
	const __half *in = x + (size_t)blockIdx.x * cols;
	__half *out = y + (size_t)blockIdx.x * cols;
	float sum = 0, mean, scale;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += __half2float(in[j]);
	mean = block_sum(sum) / cols;
	sum = 0;
	for (int j = threadIdx.x; j < cols; j += THREADS) {
		float d = __half2float(in[j]) - mean;

		sum += d * d;
	}
	scale = rsqrtf(block_sum(sum) / cols + eps);
	for (int j = threadIdx.x; j < cols; j += THREADS)
		out[j] = __float2half((__half2float(in[j]) - mean) * scale * gamma[j] + beta[j]);
}

extern "C" void
layernorm(const __half *x, const float *gamma, const float *beta, __half *y, int rows, int cols, float eps,
    cudaStream_t stream)
{
	if (cols % 8 == 0 && cols <= 8 * THREADS * VECTORS)
		short_rows<<<rows, THREADS, 0, stream>>>((const eight *)x, (const float4 *)gamma, (const float4 *)beta,
		    (eight *)y, cols / 8, eps);
	else
		other_rows<<<rows, THREADS, 0, stream>>>(x, gamma, beta, y, cols, eps);
}
