/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a turned copy of B in a static device array, written anew in every call; large ones are read directly. */
#include <cuda_runtime.h>

enum { ROOM = 1 << 21 };

static __device__ float turned[ROOM];

static __global__ void
turn(const float *B, int N, int K)
{
	__shared__ float tile[32][33];
	int j = blockIdx.x * 32, k = blockIdx.y * 32;

	for (int r = threadIdx.y; r < 32; r += 8)
		if (k + r < K && j + threadIdx.x < N)
			tile[r][threadIdx.x] = B[(size_t)(k + r) * N + j + threadIdx.x];
	__syncthreads();
	for (int r = threadIdx.y; r < 32; r += 8)
		if (j + r < N && k + threadIdx.x < K)
			turned[(size_t)(j + r) * K + k + threadIdx.x] = tile[threadIdx.x][r];
}

static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K, bool use_turned)
{
	__shared__ float a[16][17], b[16][17];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j0 = blockIdx.x * 16;
	float sum = 0;

	for (int k = 0; k < K; k += 16) {
		a[y][x] = i < M && k + x < K ? A[(size_t)i * K + k + x] : 0;
		if (use_turned)
			b[x][y] = j0 + y < N && k + x < K ? turned[(size_t)(j0 + y) * K + k + x] : 0;
		else
			b[y][x] = j0 + x < N && k + y < K ? B[(size_t)(k + y) * N + j0 + x] : 0;
		__syncthreads();
		for (int l = 0; l < 16; l++)
			sum += a[y][l] * b[l][x];
		__syncthreads();
	}
	if (i < M && j0 + x < N)
		C[(size_t)i * N + j0 + x] = sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	bool fits = (size_t)N * K <= ROOM;

	if (fits)
		turn<<<dim3((N + 31) / 32, (K + 31) / 32), dim3(32, 8), 0, stream>>>(B, N, K);
	product<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, C, M, N, K, fits);
}
