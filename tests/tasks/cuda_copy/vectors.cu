/* SPDX-License-Identifier: Apache-2.0 */
/* 16 bytes a thread and access, four of them in flight. */
#include <cuda_runtime.h>

enum { THREADS = 512, EACH = 4 };

static __global__ void
move(const float4 *x, float4 *y, long long vectors)
{
	long long at = (long long)blockIdx.x * THREADS * EACH + threadIdx.x;
	float4 kept[EACH];

#pragma unroll
	for (int i = 0; i < EACH; i++)
		if (at + i * THREADS < vectors)
			kept[i] = __ldcs(x + at + i * THREADS);
#pragma unroll
	for (int i = 0; i < EACH; i++)
		if (at + i * THREADS < vectors)
			__stcs(y + at + i * THREADS, kept[i]);
}

static __global__ void
rest(const float *x, float *y, long long from, long long count)
{
	if (from + threadIdx.x < count)
		y[from + threadIdx.x] = x[from + threadIdx.x];
}

extern "C" void
copy(const float *x, float *y, long long count, cudaStream_t stream)
{
	long long vectors = count / 4;

	if (vectors)
		move<<<(unsigned)((vectors + THREADS * EACH - 1) / (THREADS * EACH)), THREADS, 0, stream>>>(
		    (const float4 *)x, (float4 *)y, vectors);
	rest<<<1, 4, 0, stream>>>(x, y, vectors * 4, count);
}
