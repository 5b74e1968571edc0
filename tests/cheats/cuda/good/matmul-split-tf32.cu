/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor cores and yet float32: both inputs as two numbers of ten bits, and all four products
 * added.
 */
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

/* A warp for 16 x 16 results; tiles are padded with zeros in shared memory. */
static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> high_a,
	    low_a;
	wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> high_b,
	    low_b;
	wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
	__shared__ __align__(32) float a[16 * 8], b[8 * 16], out[16 * 16];
	int i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;

	wmma::fill_fragment(c, 0.0f);
	for (int k0 = 0; k0 < K; k0 += 8) {
		for (int e = threadIdx.x; e < 128; e += 32) {
			int i = i0 + e / 8, k = k0 + e % 8, l = k0 + e / 16, j = j0 + e % 16;

			a[e] = i < M && k < K ? A[(size_t)i * K + k] : 0;
			b[e] = l < K && j < N ? B[(size_t)l * N + j] : 0;
		}
		__syncwarp();
		wmma::load_matrix_sync(high_a, a, 8);
		wmma::load_matrix_sync(high_b, b, 16);
		for (int e = 0; e < high_a.num_elements; e++) {
			float v = high_a.x[e];

			high_a.x[e] = wmma::__float_to_tf32(v);
			low_a.x[e] = wmma::__float_to_tf32(v - high_a.x[e]);
		}
		for (int e = 0; e < high_b.num_elements; e++) {
			float v = high_b.x[e];

			high_b.x[e] = wmma::__float_to_tf32(v);
			low_b.x[e] = wmma::__float_to_tf32(v - high_b.x[e]);
		}
		wmma::mma_sync(c, low_a, low_b, c);
		wmma::mma_sync(c, low_a, high_b, c);
		wmma::mma_sync(c, high_a, low_b, c);
		wmma::mma_sync(c, high_a, high_b, c);
		__syncwarp();
	}
	wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
	__syncwarp();
	for (int e = threadIdx.x; e < 256; e += 32)
		if (i0 + e / 16 < M && j0 + e % 16 < N)
			C[(size_t)(i0 + e / 16) * N + j0 + e % 16] = out[e];
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + 15) / 16, (M + 15) / 16), 32, 0, stream>>>(A, B, C, M, N, K);
}
