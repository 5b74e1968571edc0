/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As many blocks as fit take tiles from a counter that a memset on the stream sets back, and keep
 * the next piece in registers while they multiply.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

enum { TILE = 64, DEPTH = 32, A_STEP = DEPTH + 8, B_STEP = TILE + 8, EACH = TILE * DEPTH / 128 };

static __device__ unsigned next_tile;

struct piece { __half a[EACH], b[EACH]; };

static __device__ void
load(struct piece *p, const __half *A, const __half *B, int i0, int j0, int k0, int M, int N, int K)
{
	const __half zero = __float2half(0);

#pragma unroll
	for (int r = 0; r < EACH; r++) {
		int e = threadIdx.x + 128 * r, i = i0 + e / DEPTH, k = k0 + e % DEPTH, l = k0 + e / TILE, j = j0 + e % TILE;

		p->a[r] = i < M && k < K ? A[(size_t)i * K + k] : zero;
		p->b[r] = l < K && j < N ? B[(size_t)l * N + j] : zero;
	}
}

static __device__ void
put(const struct piece *p, __half *a, __half *b)
{
#pragma unroll
	for (int r = 0; r < EACH; r++) {
		int e = threadIdx.x + 128 * r;

		a[e / DEPTH * A_STEP + e % DEPTH] = p->a[r];
		b[e / TILE * B_STEP + e % TILE] = p->b[r];
	}
}

static __device__ void
tile(const __half *A, const __half *B, __half *C, int i0, int j0, int M, int N, int K)
{
	__shared__ __align__(32) __half a[TILE * A_STEP], b[DEPTH * B_STEP];
	__shared__ __align__(32) float c[4][256];
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
	int warp = threadIdx.x / 32, wi = warp / 2 * 32, wj = warp % 2 * 32;
	struct piece p;

	for (int r = 0; r < 4; r++)
		wmma::fill_fragment(sum[r], 0.0f);
	load(&p, A, B, i0, j0, 0, M, N, K);
	for (int k0 = 0; k0 < K; k0 += DEPTH) {
		__syncthreads();
		put(&p, a, b);
		__syncthreads();
		load(&p, A, B, i0, j0, k0 + DEPTH, M, N, K);
		for (int k = 0; k < DEPTH; k += 16)
			for (int r = 0; r < 4; r++) {
				wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> u;
				wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> v;

				wmma::load_matrix_sync(u, a + (wi + r / 2 * 16) * A_STEP + k, A_STEP);
				wmma::load_matrix_sync(v, b + k * B_STEP + wj + r % 2 * 16, B_STEP);
				wmma::mma_sync(sum[r], u, v, sum[r]);
			}
	}
	for (int r = 0; r < 4; r++) {
		int i = i0 + wi + r / 2 * 16, j = j0 + wj + r % 2 * 16;

		wmma::store_matrix_sync(c[warp], sum[r], 16, wmma::mem_row_major);
		__syncwarp();
		for (int e = threadIdx.x % 32; e < 256; e += 32)
			if (i + e / 16 < M && j + e % 16 < N)
				C[(size_t)(i + e / 16) * N + j + e % 16] = __float2half(c[warp][e]);
		__syncwarp();
	}
}

static __global__ void __launch_bounds__(128)
product(const __half *A, const __half *B, __half *C, int M, int N, int K, unsigned wide, unsigned count)
{
	__shared__ unsigned mine;

	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0)
			mine = atomicAdd(&next_tile, 1);
		__syncthreads();
		if (mine >= count)
			return;
		tile(A, B, C, mine / wide * TILE, mine % wide * TILE, M, N, K);
	}
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	static int grid;
	static void *counter;
	unsigned wide = (N + TILE - 1) / TILE, count = wide * ((M + TILE - 1) / TILE);
	int device, processors, fit;

	if (!grid) {
		cudaGetDevice(&device);
		cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, product, 128, 0);
		cudaGetSymbolAddress(&counter, next_tile);
		grid = processors * fit;
	}
	cudaMemsetAsync(counter, 0, sizeof next_tile, stream);
	product<<<grid, 128, 0, stream>>>(A, B, C, M, N, K, wide, count);
}
