/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three parts of bfloat16, which hold all bits of float32, and nine products of them in tiles of
 * 64 x 64.
 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

enum { TILE = 64, DEPTH = 16, A_STEP = DEPTH + 8, B_STEP = TILE + 8 };

/* A number as a sum of numbers of bfloat16. */
template <int PARTS>
static __device__ void
split(float v, __nv_bfloat16 *to, int distance)
{
#pragma unroll
	for (int p = 0; p < PARTS; p++) {
		to[p * distance] = __float2bfloat16(v);
		v -= __bfloat162float(to[p * distance]);
	}
}

/*
 * 64 x 64 results a block of four warps. Partial sums leave the tensor cores after 16 products,
 * because their rounding is their own.
 */
template <int PARTS, int ORDERS>
static __device__ void
tiles(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ __align__(32) __nv_bfloat16 a[PARTS * TILE * A_STEP], b[PARTS * DEPTH * B_STEP];
	__shared__ __align__(32) float c[4][256];
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> part, sum[2][2];
	int t = threadIdx.x, warp = t / 32, wi = warp / 2 * 32, wj = warp % 2 * 32;
	int i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE;

	for (int r = 0; r < 4; r++)
		wmma::fill_fragment(sum[r / 2][r % 2], 0.0f);
	for (int k0 = 0; k0 < K; k0 += DEPTH) {
		for (int e = t; e < TILE * DEPTH; e += 128) {
			int i = e / DEPTH, k = e % DEPTH, l = e / TILE, j = e % TILE;

			split<PARTS>(i0 + i < M && k0 + k < K ? A[(size_t)(i0 + i) * K + k0 + k] : 0,
			    a + i * A_STEP + k, TILE * A_STEP);
			split<PARTS>(k0 + l < K && j0 + j < N ? B[(size_t)(k0 + l) * N + j0 + j] : 0,
			    b + l * B_STEP + j, DEPTH * B_STEP);
		}
		__syncthreads();
#pragma unroll
		for (int order = ORDERS - 1; order >= 0; order--)
#pragma unroll
			for (int p = 0; p < PARTS; p++) {
				int q = order - p;

				if (q < 0 || q >= PARTS)
					continue;
				for (int r = 0; r < 4; r++) {
					wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16,
					    wmma::row_major> u;
					wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16,
					    wmma::row_major> v;

					wmma::load_matrix_sync(u, a + p * TILE * A_STEP +
					    (wi + r / 2 * 16) * A_STEP, A_STEP);
					wmma::load_matrix_sync(v, b + q * DEPTH * B_STEP + wj + r % 2 * 16,
					    B_STEP);
					wmma::fill_fragment(part, 0.0f);
					wmma::mma_sync(part, u, v, part);
					for (int e = 0; e < part.num_elements; e++)
						sum[r / 2][r % 2].x[e] += part.x[e];
				}
			}
		__syncthreads();
	}
	for (int r = 0; r < 4; r++) {
		int ri = i0 + wi + r / 2 * 16, rj = j0 + wj + r % 2 * 16;

		wmma::store_matrix_sync(c[warp], sum[r / 2][r % 2], 16, wmma::mem_row_major);
		__syncwarp();
		for (int e = t % 32; e < 256; e += 32)
			if (ri + e / 16 < M && rj + e % 16 < N)
				C[(size_t)(ri + e / 16) * N + rj + e % 16] = c[warp][e];
		__syncwarp();
	}
}

static __global__ void __launch_bounds__(128)
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	tiles<3, 5>(A, B, C, M, N, K);
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), 128, 0, stream>>>(A, B, C, M, N, K);
}
