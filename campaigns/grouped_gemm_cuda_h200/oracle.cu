/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is right: every group's matrix product in double precision. The third dimension of the grid is the group;
 * each group gets blocks enough for all rows, and those beyond its end leave at once. Tiles of 32 x 32 go through
 * shared memory.
 */
#include <cuda_runtime.h>

enum { SIDE = 32 };

static __global__ void
product(const double *x, const double *w, const int *offsets, double *y, int K, int N)
{
	__shared__ double left[SIDE][SIDE + 1], right[SIDE][SIDE + 1];
	int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * SIDE + tx;
	int first = offsets[blockIdx.z] + blockIdx.y * SIDE, end = offsets[blockIdx.z + 1], row = first + ty;
	const double *weights = w + (size_t)blockIdx.z * K * N;
	double sum = 0;

	if (first >= end)
		return;	/* the whole block */
	for (int k = 0; k < K; k += SIDE) {
		left[ty][tx] = row < end && k + tx < K ? x[(size_t)row * K + k + tx] : 0;
		right[ty][tx] = column < N && k + ty < K ? weights[(size_t)(k + ty) * N + column] : 0;
		__syncthreads();
		for (int i = 0; i < SIDE; i++)
			sum += left[ty][i] * right[i][tx];
		__syncthreads();
	}
	if (row < end && column < N)
		y[(size_t)row * N + column] = sum;
}

extern "C" void
grouped_gemm(const double *x, const double *w, const int *offsets, double *y, int rows, int groups, int K, int N,
    cudaStream_t stream)
{
	dim3 grid((N + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE, groups), block(SIDE, SIDE);

	product<<<grid, block, 0, stream>>>(x, w, offsets, y, K, N);
}
