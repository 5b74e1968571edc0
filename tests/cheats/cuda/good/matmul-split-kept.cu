/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K split over two to eight blocks where there are few tiles; partial results in the stream's
 * pool, added in a fixed order.
 */
#include <cuda_runtime.h>

static __global__ void
partial(const float *A, const float *B, float *C, int M, int N, int K, int depth)
{
	__shared__ float a[16][17], b[16][17];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
	int from = blockIdx.z * depth, to = min(K, from + depth);
	float sum = 0;

	for (int k = from; k < to; k += 16) {
		a[y][x] = i < M && k + x < to ? A[(size_t)i * K + k + x] : 0;
		b[y][x] = j < N && k + y < to ? B[(size_t)(k + y) * N + j] : 0;
		__syncthreads();
		for (int l = 0; l < 16; l++)
			sum += a[y][l] * b[l][x];
		__syncthreads();
	}
	if (i < M && j < N)
		C[((size_t)blockIdx.z * M + i) * N + j] = sum;
}

static __global__ void
add(const float *kept, float *C, size_t n, int parts)
{
	for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n;
	    i += (size_t)gridDim.x * 256) {
		float sum = 0;

		for (int p = 0; p < parts; p++)
			sum += kept[p * n + i];
		C[i] = sum;
	}
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	int tiles = (M + 31) / 32 * ((N + 31) / 32), parts = tiles >= 264 ? 1 :
	    min(8, max(1, K / 64));
	int depth = ((K + parts - 1) / parts + 15) / 16 * 16;
	float *kept = C;

	if (parts > 1 && cudaMallocAsync((void **)&kept, sizeof *C * M * N * parts,
	    stream) != cudaSuccess)
		return;
	partial<<<dim3((N + 15) / 16, (M + 15) / 16, parts), dim3(16, 16), 0,
	    stream>>>(A, B, kept, M, N, K, depth);
	if (parts == 1)
		return;
	add<<<264, 256, 0, stream>>>(kept, C, (size_t)M * N, parts);
	cudaFreeAsync(kept, stream);
}
