/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace from cudaMalloc that grows and is kept between calls: memory is reused, no result is kept. */
#include <cuda_runtime.h>

enum { TILE = 16 };

static __global__ void
partial(const float *A, const float *B, float *W, int M, int N, int K)
{
	__shared__ float a[TILE][TILE], b[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
	int from = blockIdx.z ? K / 2 : 0, to = blockIdx.z ? K : K / 2;
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
		W[((size_t)blockIdx.z * M + i) * N + j] = sum;
}

static __global__ void
add(const float *W, float *C, size_t n)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		C[i] = W[i] + W[i + n];
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	static float *workspace;
	static size_t room;
	size_t n = (size_t)M * N;

	if (room < 2 * n) {
		cudaFree(workspace);
		room = cudaMalloc((void **)&workspace, 2 * n * sizeof *workspace) == cudaSuccess ? 2 * n : 0;
		if (!room)
			return;
	}
	partial<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, 2), dim3(TILE, TILE), 0, stream>>>(A, B, workspace, M, N, K);
	add<<<264, 256, 0, stream>>>(workspace, C, n);
}
