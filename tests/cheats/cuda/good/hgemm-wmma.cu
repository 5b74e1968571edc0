/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor cores by wmma, a warp for each tile, padded edges. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

static __global__ void
product(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	__shared__ __align__(32) __half a[256], b[256];
	__shared__ __align__(32) float c[256];
	wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
	int i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;
	__half zero = __float2half(0);

	wmma::fill_fragment(fc, 0.0f);
	for (int k0 = 0; k0 < K; k0 += 16) {
		for (int e = threadIdx.x; e < 256; e += 32) {
			int i = i0 + e / 16, k = k0 + e % 16, l = k0 + e / 16, j = j0 + e % 16;

			a[e] = i < M && k < K ? A[(size_t)i * K + k] : zero;
			b[e] = l < K && j < N ? B[(size_t)l * N + j] : zero;
		}
		__syncwarp();
		wmma::load_matrix_sync(fa, a, 16);
		wmma::load_matrix_sync(fb, b, 16);
		wmma::mma_sync(fc, fa, fb, fc);
		__syncwarp();
	}
	wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
	__syncwarp();
	for (int e = threadIdx.x; e < 256; e += 32)
		if (i0 + e / 16 < M && j0 + e % 16 < N)
			C[(size_t)(i0 + e / 16) * N + j0 + e % 16] = __float2half(c[e]);
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + 15) / 16, (M + 15) / 16), 32, 0, stream>>>(A, B, C, M, N, K);
}
