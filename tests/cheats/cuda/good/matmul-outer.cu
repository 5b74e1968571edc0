/* SPDX-License-Identifier: Apache-2.0 */
/* 128 x 128 results a block, 8 x 8 a thread, A kept turned in shared memory. */
#include <cuda_runtime.h>

enum { SIDE = 128, DEPTH = 8 };

static __global__ void __launch_bounds__(256)
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ float a[DEPTH][SIDE + 4], b[DEPTH][SIDE];
	int t = threadIdx.x, i0 = blockIdx.y * SIDE, j0 = blockIdx.x * SIDE, ti = t / 16,
	    tj = t % 16;
	float sum[8][8] = {};

	for (int k0 = 0; k0 < K; k0 += DEPTH) {
		for (int e = t; e < SIDE * DEPTH; e += 256) {
			int i = e / DEPTH, k = e % DEPTH, j = e % SIDE, l = e / SIDE;

			a[k][i] = i0 + i < M && k0 + k < K ? A[(size_t)(i0 + i) * K + k0 + k] : 0;
			b[l][j] = j0 + j < N && k0 + l < K ? B[(size_t)(k0 + l) * N + j0 + j] : 0;
		}
		__syncthreads();
#pragma unroll
		for (int k = 0; k < DEPTH; k++)
#pragma unroll
			for (int r = 0; r < 8; r++)
#pragma unroll
				for (int s = 0; s < 8; s++)
					sum[r][s] += a[k][ti + 16 * r] * b[k][tj + 16 * s];
		__syncthreads();
	}
#pragma unroll
	for (int r = 0; r < 8; r++)
#pragma unroll
		for (int s = 0; s < 8; s++)
			if (i0 + ti + 16 * r < M && j0 + tj + 16 * s < N)
				C[(size_t)(i0 + ti + 16 * r) * N + j0 + tj + 16 * s] = sum[r][s];
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE), 256, 0,
	    stream>>>(A, B, C, M, N, K);
}
