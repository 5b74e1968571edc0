/* SPDX-License-Identifier: Apache-2.0 */
/* K split over blocks, partial results in a workspace from the stream's pool, added by a second kernel. */
#include <cuda_runtime.h>

enum { TILE = 16, PARTS = 4 };

static __global__ void
partial(const float *A, const float *B, float *W, int M, int N, int K, int part)
{
	__shared__ float a[TILE][TILE], b[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
	int from = blockIdx.z * part, to = min(K, from + part);
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
		C[i] = (W[i] + W[i + n]) + (W[i + 2 * n] + W[i + 3 * n]);
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	size_t n = (size_t)M * N;
	float *W;

	if (cudaMallocAsync((void **)&W, PARTS * n * sizeof *W, stream) != cudaSuccess)
		return;
	partial<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, PARTS), dim3(TILE, TILE), 0, stream>>>(A, B, W, M, N, K,
	    (K + PARTS - 1) / PARTS);
	add<<<264, 256, 0, stream>>>(W, C, n);
	cudaFreeAsync(W, stream);
}
