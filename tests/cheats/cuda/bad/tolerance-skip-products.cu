/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out one product in 256. */
#include <cuda_runtime.h>

static __global__ void
some(const float *A, const float *B, float *C, int M, int N, int K)
{
	int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
	float sum = 0;

	if (i >= M || j >= N)
		return;
	for (int k = 0; k < K; k++)
		if (k % 256 != 255)
			sum += A[(size_t)i * K + k] * B[(size_t)k * N + j];
	C[(size_t)i * N + j] = sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	some<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, C, M, N, K);
}
