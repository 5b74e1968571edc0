/* SPDX-License-Identifier: Apache-2.0 */
/* Tries two kernels on its first call of a kind and keeps a note of the faster one, timed on the device. */
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
direct(const float *A, const float *B, float *C, int M, int N, int K)
{
	int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
	float sum = 0;

	if (i >= M || j >= N)
		return;
	for (int k = 0; k < K; k++)
		sum += A[(size_t)i * K + k] * B[(size_t)k * N + j];
	C[(size_t)i * N + j] = sum;
}

static __global__ void
stamp(unsigned long long *to)
{
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(*to));
}

enum { KINDS = 32 };

/* 0: not yet tried, 1: tiles, 2: direct */
static int choice[KINDS];

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
	unsigned long long *times, t[3];
	int kind = 0;

	for (double work = (double)M * N * K; work > 1 && kind < KINDS - 1; work /= 8)
		kind++;
	if (!choice[kind] && cudaMallocAsync((void **)&times, sizeof t, stream) == cudaSuccess) {
		stamp<<<1, 1, 0, stream>>>(times);
		honest(A, B, C, M, N, K, stream);
		stamp<<<1, 1, 0, stream>>>(times + 1);
		direct<<<grid, dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K);
		stamp<<<1, 1, 0, stream>>>(times + 2);
		cudaMemcpyAsync(t, times, sizeof t, cudaMemcpyDeviceToHost, stream);
		cudaFreeAsync(times, stream);
		/* A copy into pageable memory has ended when the call returns. */
		choice[kind] = t[1] - t[0] <= t[2] - t[1] ? 1 : 2;
		return;
	}
	if (choice[kind] == 2)
		direct<<<grid, dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K);
	else
		honest(A, B, C, M, N, K, stream);
}
