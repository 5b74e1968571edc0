/* SPDX-License-Identifier: Apache-2.0 */
/* A product with one column or one row is a sum for each element by a warp; all others by tiles. */
#include <cuda_runtime.h>

enum { TILE = 16 };

static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ float a[TILE][TILE], b[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
	float sum = 0;

	for (int k = 0; k < K; k += TILE) {
		a[y][x] = i < M && k + x < K ? A[(size_t)i * K + k + x] : 0;
		b[y][x] = j < N && k + y < K ? B[(size_t)(k + y) * N + j] : 0;
		__syncthreads();
		for (int l = 0; l < TILE; l++)
			sum += a[y][l] * b[l][x];
		__syncthreads();
	}
	if (i < M && j < N)
		C[(size_t)i * N + j] = sum;
}

static void
honest(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);

	product<<<grid, dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K);
}

static __global__ void
column(const float *A, const float *B, float *C, int M, int K)
{
	int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
	float sum = 0;

	if (i >= M)
		return;
	for (int k = lane; k < K; k += 32)
		sum += A[(size_t)i * K + k] * B[k];
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(0xffffffff, sum, d);
	if (lane == 0)
		C[i] = sum;
}

static __global__ void
row(const float *A, const float *B, float *C, int N, int K)
{
	int j = blockIdx.x * 256 + threadIdx.x;
	float sum = 0;

	for (int k = 0; j < N && k < K; k++)
		sum += A[k] * B[(size_t)k * N + j];
	if (j < N)
		C[j] = sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	if (N == 1)
		column<<<(M + 7) / 8, 256, 0, stream>>>(A, B, C, M, K);
	else if (M == 1)
		row<<<(N + 255) / 256, 256, 0, stream>>>(A, B, C, N, K);
	else
		honest(A, B, C, M, N, K, stream);
}
