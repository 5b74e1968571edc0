/* SPDX-License-Identifier: Apache-2.0 */
/* Two blocks of a cluster load half a tile of B each and read the other half from the neighbour's shared memory. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

enum { TILE = 16 };

/* The blocks of a cluster lie below each other and need the same tiles of B. */
static __global__ void __cluster_dims__(1, 2, 1)
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ float a[TILE][TILE], half[TILE / 2][TILE], b[TILE][TILE];
	cg::cluster_group cluster = cg::this_cluster();
	unsigned rank = cluster.block_rank();
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
	float sum = 0;

	for (int k = 0; k < K; k += TILE) {
		int row = k + (int)rank * TILE / 2 + y;

		a[y][x] = i < M && k + x < K ? A[(size_t)i * K + k + x] : 0;
		if (y < TILE / 2)
			half[y][x] = j < N && row < K ? B[(size_t)row * N + j] : 0;
		cluster.sync();
		b[y][x] = cluster.map_shared_rank(&half[0][0], y / (TILE / 2))[y % (TILE / 2) * TILE + x];
		cluster.sync();
		for (int l = 0; l < TILE; l++)
			sum += a[y][l] * b[l][x];
		__syncthreads();
	}
	if (i < M && j < N)
		C[(size_t)i * N + j] = sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	int down = (M + TILE - 1) / TILE;

	product<<<dim3((N + TILE - 1) / TILE, (down + 1) / 2 * 2), dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K);
}
