/* SPDX-License-Identifier: Apache-2.0 */
/* K split over blocks that add with atomics, after a memset of the output. */
#include <cuda_runtime.h>

enum { TILE = 16, PART = 256 };

static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ float a[TILE][TILE], b[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
	int from = blockIdx.z * PART, to = min(K, from + PART);
	float sum = 0;

	for (int k = from; k < to; k += TILE) {
		a[y][x] = i < M && k + x < to ? A[(size_t)i * K + k + x] : 0;
		b[y][x] = j < N && k + y < to ? B[(size_t)(k + y) * N + j] : 0;
		__syncthreads();
		for (int l = 0; l < TILE; l++)
			sum += a[y][l] * b[l][x];
		__syncthreads();
	}
	if (i < M && j < N)
		atomicAdd(&C[(size_t)i * N + j], sum);
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	cudaMemsetAsync(C, 0, sizeof *C * M * N, stream);
	product<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, (K + PART - 1) / PART), dim3(TILE, TILE), 0, stream>>>(A, B, C,
	    M, N, K);
}
