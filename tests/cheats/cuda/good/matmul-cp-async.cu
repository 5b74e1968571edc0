/* SPDX-License-Identifier: Apache-2.0 */
/* Two stages of tiles filled by cp.async while the other is used. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

enum { TILE = 16 };

static __device__ void
fetch(float *to, const float *from, bool there)
{
	if (there)
		__pipeline_memcpy_async(to, from, sizeof *to);
	else
		*to = 0;
}

static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ float a[2][TILE][TILE], b[2][TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x, s = 0;
	float sum = 0;

	fetch(&a[0][y][x], A + (size_t)i * K + x, i < M && x < K);
	fetch(&b[0][y][x], B + (size_t)y * N + j, j < N && y < K);
	__pipeline_commit();
	for (int k = 0; k < K; k += TILE, s ^= 1) {
		int next = k + TILE;

		fetch(&a[s ^ 1][y][x], A + (size_t)i * K + next + x, i < M && next + x < K);
		fetch(&b[s ^ 1][y][x], B + (size_t)(next + y) * N + j, j < N && next + y < K);
		__pipeline_commit();
		__pipeline_wait_prior(1);
		__syncthreads();
		for (int l = 0; l < TILE; l++)
			sum += a[s][y][l] * b[s][l][x];
		__syncthreads();
	}
	__pipeline_wait_prior(0);
	if (i < M && j < N)
		C[(size_t)i * N + j] = sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K);
}
