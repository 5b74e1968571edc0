/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix product, the way the definition reads: one thread per element of C, 16 x 16 threads a block, sums in float32. */
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

enum { SIDE = 16 };

static __global__ void
product(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
	float sum = 0;

	if (row >= M || column >= N)
		return;
	for (int k = 0; k < K; k++)
		sum += __half2float(A[(size_t)row * K + k]) * __half2float(B[(size_t)k * N + column]);
	C[(size_t)row * N + column] = __float2half(sum);
}

extern "C" void
matmul(const __half *A, const __half *B, __half *C, int M, int N, int K, hipStream_t stream)
{
	dim3 grid((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE), block(SIDE, SIDE);

	product<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
