/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention, one thread per query: it goes through the keys once, with a running maximum, sum and result in float32,
 * scaled down whenever the maximum grows.
 */
#include <cuda_fp16.h>
#include <math.h>

enum { DIM = 128, THREADS = 128 };

static __global__ void __launch_bounds__(THREADS)
queries(const __half *q, const __half *k, const __half *v, __half *o, int seq, int causal, float scale)
{
	int row = blockIdx.y * THREADS + threadIdx.x;
	size_t head = (size_t)blockIdx.x * seq * DIM, mine = head + (size_t)row * DIM;
	float out[DIM], max = -INFINITY, sum = 0;
	__half2 query[DIM / 2];

	if (row >= seq)
		return;
#pragma unroll
	for (int d = 0; d < DIM / 2; d++)
		query[d] = ((const __half2 *)(q + mine))[d];
#pragma unroll
	for (int d = 0; d < DIM; d++)
		out[d] = 0;
	for (int j = 0; j < (causal ? row + 1 : seq); j++) {
		const __half2 *key = (const __half2 *)(k + head + (size_t)j * DIM);
		const __half2 *value = (const __half2 *)(v + head + (size_t)j * DIM);
		float score = 0, p;

#pragma unroll
		for (int d = 0; d < DIM / 2; d++) {
			float2 a = __half22float2(query[d]), b = __half22float2(key[d]);

			score += a.x * b.x + a.y * b.y;
		}
		score *= scale;
		if (score > max) {
			float down = expf(max - score);

			sum *= down;
#pragma unroll
			for (int d = 0; d < DIM; d++)
				out[d] *= down;
			max = score;
		}
		p = expf(score - max);
		sum += p;
#pragma unroll
		for (int d = 0; d < DIM / 2; d++) {
			float2 b = __half22float2(value[d]);

			out[2 * d] += p * b.x;
			out[2 * d + 1] += p * b.y;
		}
	}
#pragma unroll
	for (int d = 0; d < DIM; d++)
		o[mine + d] = __float2half(out[d] / sum);
}

extern "C" void
attention(const __half *q, const __half *k, const __half *v, __half *o, int batch, int heads, int seq, int causal,
    float scale, cudaStream_t stream)
{
	dim3 grid(batch * heads, (seq + THREADS - 1) / THREADS);

	queries<<<grid, THREADS, 0, stream>>>(q, k, v, o, seq, causal, scale);
}
