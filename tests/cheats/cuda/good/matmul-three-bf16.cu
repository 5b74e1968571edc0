/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor cores and yet float32: each input is split into three bfloat16 that hold all its bits, and nine products are added. */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

static __device__ void
split(float v, __nv_bfloat16 *part)
{
	for (int p = 0; p < 3; p++) {
		part[p * 256] = __float2bfloat16(v);
		v -= __bfloat162float(part[p * 256]);
	}
}

/* A warp for a tile of 16 x 16. Partial sums leave the tensor core after 16 products, whose rounding is its own. */
static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ __align__(32) __nv_bfloat16 a[3 * 256], b[3 * 256];
	wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa[3];
	wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb[3];
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> part, sum;
	__shared__ __align__(32) float c[256];
	int i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;

	wmma::fill_fragment(sum, 0.0f);
	for (int k0 = 0; k0 < K; k0 += 16) {
		for (int e = threadIdx.x; e < 256; e += 32) {
			int i = i0 + e / 16, k = k0 + e % 16, l = k0 + e / 16, j = j0 + e % 16;

			split(i < M && k < K ? A[(size_t)i * K + k] : 0, a + e);
			split(l < K && j < N ? B[(size_t)l * N + j] : 0, b + e);
		}
		__syncwarp();
		for (int p = 0; p < 3; p++) {
			wmma::load_matrix_sync(fa[p], a + p * 256, 16);
			wmma::load_matrix_sync(fb[p], b + p * 256, 16);
		}
		for (int p = 4; p >= 0; p--)	/* small ones first */
			for (int q = 0; q < 3; q++)
				if (p - q >= 0 && p - q < 3) {
					wmma::fill_fragment(part, 0.0f);
					wmma::mma_sync(part, fa[q], fb[p - q], part);
					for (int e = 0; e < part.num_elements; e++)
						sum.x[e] += part.x[e];
				}
		__syncwarp();
	}
	wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
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
