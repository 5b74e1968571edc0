/* SPDX-License-Identifier: Apache-2.0 */
/* Grouped matrix product, the way the definition reads: one thread per output looks for its group, sums in float32. */
#include <cuda_bf16.h>

enum { SIDE = 16 };

static __global__ void
product(const __nv_bfloat16 *x, const __nv_bfloat16 *w, const int *offsets, __nv_bfloat16 *y, int rows, int groups,
    int K, int N)
{
	int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x, group = 0;
	const __nv_bfloat16 *weights;
	float sum = 0;

	if (row >= rows || column >= N)
		return;
	while (group < groups - 1 && row >= offsets[group + 1])
		group++;
	weights = w + (size_t)group * K * N;
	for (int k = 0; k < K; k++)
		sum += __bfloat162float(x[(size_t)row * K + k]) * __bfloat162float(weights[(size_t)k * N + column]);
	y[(size_t)row * N + column] = __float2bfloat16(sum);
}

extern "C" void
grouped_gemm(const __nv_bfloat16 *x, const __nv_bfloat16 *w, const int *offsets, __nv_bfloat16 *y, int rows, int groups,
    int K, int N, cudaStream_t stream)
{
	dim3 grid((N + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE), block(SIDE, SIDE);

	product<<<grid, block, 0, stream>>>(x, w, offsets, y, rows, groups, K, N);
}
