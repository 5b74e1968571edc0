/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A yardstick by hand: a row that fits stays in the registers of its block and is read once; a longer one is read
 * twice, maximum and sum in one pass.
 */
#include <cuda_runtime.h>
#include <math.h>

enum { THREADS = 256, VECTORS = 8, LONG_THREADS = 1024 };

/* Largest or sum over the block, one partial result per warp; every thread gets it. */
template <bool LARGEST> static __device__ float
combine(float v)
{
	__shared__ float part[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

	for (int step = 16; step > 0; step /= 2) {
		float other = __shfl_xor_sync(0xffffffff, v, step);

		v = LARGEST ? fmaxf(v, other) : v + other;
	}
	if (lane == 0)
		part[warp] = v;
	__syncthreads();
	v = lane < warps ? part[lane] : LARGEST ? -INFINITY : 0;
	for (int step = 16; step > 0; step /= 2) {
		float other = __shfl_xor_sync(0xffffffff, v, step);

		v = LARGEST ? fmaxf(v, other) : v + other;
	}
	__syncthreads();
	return v;
}

/* cols is a multiple of 4, and at most 4 * THREADS * VECTORS. */
static __global__ void __launch_bounds__(THREADS)
short_rows(const float4 *x, float4 *y, int quads)
{
	const float4 *in = x + (size_t)blockIdx.x * quads;
	float4 *out = y + (size_t)blockIdx.x * quads, v[VECTORS];
	float max = -INFINITY, sum = 0, scale;

#pragma unroll
	for (int i = 0; i < VECTORS; i++) {
		int at = i * THREADS + threadIdx.x;

		v[i] = at < quads ? __ldcs(in + at) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
		max = fmaxf(max, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
	}
	max = combine<true>(max);
#pragma unroll
	for (int i = 0; i < VECTORS; i++) {
		v[i] = make_float4(expf(v[i].x - max), expf(v[i].y - max), expf(v[i].z - max), expf(v[i].w - max));
		sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
	}
	scale = 1 / combine<false>(sum);
#pragma unroll
	for (int i = 0; i < VECTORS; i++) {
		int at = i * THREADS + threadIdx.x;

		if (at < quads)
			__stcs(out + at, make_float4(v[i].x * scale, v[i].y * scale, v[i].z * scale, v[i].w * scale));
	}
}

/* One more number: the sum is of exponentials over the largest so far. */
static __device__ void
take(float v, float *max, float *sum)
{
	if (v > *max) {
		*sum *= expf(*max - v);
		*max = v;
	}
	*sum += expf(v - *max);
}

static __global__ void __launch_bounds__(LONG_THREADS)
long_rows(const float *x, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols, max = -INFINITY, sum = 0, all, scale;
	int quads = cols % 4 ? 0 : cols / 4;

	for (int i = threadIdx.x; i < quads; i += LONG_THREADS) {
		float4 v = ((const float4 *)in)[i];

		take(v.x, &max, &sum);
		take(v.y, &max, &sum);
		take(v.z, &max, &sum);
		take(v.w, &max, &sum);
	}
	for (int j = 4 * quads + threadIdx.x; j < cols; j += LONG_THREADS)
		take(in[j], &max, &sum);
	all = combine<true>(max);
	scale = 1 / combine<false>(sum > 0 ? sum * expf(max - all) : 0);	/* a thread may have had no element */
	for (int i = threadIdx.x; i < quads; i += LONG_THREADS) {
		float4 v = ((const float4 *)in)[i];

		__stcs((float4 *)out + i, make_float4(expf(v.x - all) * scale, expf(v.y - all) * scale,
		    expf(v.z - all) * scale, expf(v.w - all) * scale));
	}
	for (int j = 4 * quads + threadIdx.x; j < cols; j += LONG_THREADS)
		out[j] = expf(in[j] - all) * scale;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	if (cols % 4 == 0 && cols <= 4 * THREADS * VECTORS)
		short_rows<<<rows, THREADS, 0, stream>>>((const float4 *)x, (float4 *)y, cols / 4);
	else
		long_rows<<<rows, LONG_THREADS, 0, stream>>>(x, y, cols);
}
