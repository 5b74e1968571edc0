/* SPDX-License-Identifier: Apache-2.0 */
/* A warp for each element, lanes along K. */
#include <cuda_runtime.h>

static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	long e = blockIdx.x * 8l + threadIdx.x / 32;
	int lane = threadIdx.x % 32, i = (int)(e / N), j = (int)(e % N);
	float sum = 0;

	if (i >= M)
		return;
	for (int k = lane; k < K; k += 32)
		sum += A[(size_t)i * K + k] * B[(size_t)k * N + j];
	for (int d = 16; d; d /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, d);
	if (lane == 0)
		C[e] = sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<(unsigned)(((long)M * N + 7) / 8), 256, 0, stream>>>(A, B, C, M, N, K);
}
