/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: the matrix product in double precision. Tiles of 32 x 32 go through the LDS. */
#include <hip/hip_runtime.h>

enum { SIDE = 32 };

static __global__ void
product(const double *A, const double *B, double *C, int M, int N, int K)
{
	__shared__ double left[SIDE][SIDE + 1], right[SIDE][SIDE + 1];
	int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * SIDE + ty, column = blockIdx.x * SIDE + tx;
	double sum = 0;

	for (int k = 0; k < K; k += SIDE) {
		left[ty][tx] = row < M && k + tx < K ? A[(size_t)row * K + k + tx] : 0;
		right[ty][tx] = column < N && k + ty < K ? B[(size_t)(k + ty) * N + column] : 0;
		__syncthreads();
		for (int i = 0; i < SIDE; i++)
			sum += left[ty][i] * right[i][tx];
		__syncthreads();
	}
	if (row < M && column < N)
		C[(size_t)row * N + column] = sum;
}

extern "C" void
matmul(const double *A, const double *B, double *C, int M, int N, int K, hipStream_t stream)
{
	dim3 grid((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE), block(SIDE, SIDE);

	product<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
