/* SPDX-License-Identifier: Apache-2.0 */
/* Instances for the shapes that matter, chosen by size, with a general one for all others. */
#include <cuda_runtime.h>

/* SIZE 0: sizes are known at run time only. */
template <int TILE, int SIZE>
static __global__ void
product(const float *A, const float *B, float *C, int m, int n, int k)
{
	__shared__ float a[TILE][TILE], b[TILE][TILE];
	int M = SIZE ? SIZE : m, N = SIZE ? SIZE : n, K = SIZE ? SIZE : k;
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
	float sum = 0;

	for (int k0 = 0; k0 < K; k0 += TILE) {
		a[y][x] = i < M && k0 + x < K ? A[(size_t)i * K + k0 + x] : 0;
		b[y][x] = j < N && k0 + y < K ? B[(size_t)(k0 + y) * N + j] : 0;
		__syncthreads();
#pragma unroll
		for (int l = 0; l < TILE; l++)
			sum += a[y][l] * b[l][x];
		__syncthreads();
	}
	if (i < M && j < N)
		C[(size_t)i * N + j] = sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	if (M == 1024 && N == 1024 && K == 1024)
		product<32, 1024><<<dim3(32, 32), dim3(32, 32), 0, stream>>>(A, B, C, M, N, K);
	else if (M <= 8 || N <= 8)
		product<8, 0><<<dim3((N + 7) / 8, (M + 7) / 8), dim3(8, 8), 0, stream>>>(A, B, C, M, N, K);
	else
		product<16, 0><<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, C, M, N, K);
}
