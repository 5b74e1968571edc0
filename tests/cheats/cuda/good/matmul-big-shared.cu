/* SPDX-License-Identifier: Apache-2.0 */
/* 128 KiB of dynamic shared memory a block, asked for by cudaFuncSetAttribute. */
#include <cuda_runtime.h>

enum { BLOCK = 128, DEPTH = 128, BYTES = 2 * BLOCK * DEPTH * sizeof(float) };

static __global__ void __launch_bounds__(256)
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	extern __shared__ float tiles[];
	float *a = tiles, *b = tiles + BLOCK * DEPTH;
	int t = threadIdx.x, i0 = blockIdx.y * BLOCK, j0 = blockIdx.x * BLOCK, ti = t / 16, tj = t % 16;
	float sum[8][8] = {};

	for (int k0 = 0; k0 < K; k0 += DEPTH) {
		for (int e = t; e < BLOCK * DEPTH; e += 256) {
			int i = i0 + e / DEPTH, k = k0 + e % DEPTH, l = k0 + e / BLOCK, j = j0 + e % BLOCK;

			a[e] = i < M && k < K ? A[(size_t)i * K + k] : 0;
			b[e] = l < K && j < N ? B[(size_t)l * N + j] : 0;
		}
		__syncthreads();
		for (int k = 0; k < DEPTH; k++) {
			float u[8], v[8];

#pragma unroll
			for (int r = 0; r < 8; r++) {
				u[r] = a[(ti + 16 * r) * DEPTH + k];
				v[r] = b[k * BLOCK + tj + 16 * r];
			}
#pragma unroll
			for (int r = 0; r < 8; r++)
#pragma unroll
				for (int s = 0; s < 8; s++)
					sum[r][s] += u[r] * v[s];
		}
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
	cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
	product<<<dim3((N + BLOCK - 1) / BLOCK, (M + BLOCK - 1) / BLOCK), 256, BYTES, stream>>>(A, B, C, M, N, K);
}
