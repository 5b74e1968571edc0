/* SPDX-License-Identifier: Apache-2.0 */
/* A grid as large as the device takes tiles from a counter that is reset by a memset on the stream. */
#include <cuda_runtime.h>

enum { TILE = 16 };

static __device__ unsigned counter;

static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K, unsigned across, unsigned tiles)
{
	__shared__ float a[TILE][TILE], b[TILE][TILE];
	__shared__ unsigned tile;
	int x = threadIdx.x, y = threadIdx.y;

	for (;;) {
		float sum = 0;
		int i, j;

		if (x == 0 && y == 0)
			tile = atomicAdd(&counter, 1);
		__syncthreads();
		if (tile >= tiles)
			return;
		i = tile / across * TILE + y;
		j = tile % across * TILE + x;
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
		__syncthreads();
	}
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	static int grid;
	unsigned across = (N + TILE - 1) / TILE, down = (M + TILE - 1) / TILE;
	void *address;
	int device, processors, fit;

	if (!grid) {
		cudaGetDevice(&device);
		cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, product, TILE * TILE, 0);
		grid = processors * fit;
	}
	if (cudaGetSymbolAddress(&address, counter) != cudaSuccess)
		return;
	cudaMemsetAsync(address, 0, sizeof counter, stream);
	product<<<grid, dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K, across, across * down);
}
