/* SPDX-License-Identifier: Apache-2.0 */
/* Half2 loads and stores, sums in float32. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

/* Two columns a thread where rows of B and C begin at even elements. */
static __global__ void
pairs(const __half *A, const __half2 *B, __half2 *C, int M, int N, int K)
{
	int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
	float2 sum = { 0, 0 };

	if (i >= M || j >= N / 2)
		return;
	for (int k = 0; k < K; k++) {
		float a = __half2float(A[(size_t)i * K + k]);
		float2 b = __half22float2(B[(size_t)k * (N / 2) + j]);

		sum.x += a * b.x;
		sum.y += a * b.y;
	}
	C[(size_t)i * (N / 2) + j] = __floats2half2_rn(sum.x, sum.y);
}

static __global__ void
singles(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
	float sum = 0;

	if (i >= M || j >= N)
		return;
	for (int k = 0; k < K; k++)
		sum += __half2float(A[(size_t)i * K + k]) * __half2float(B[(size_t)k * N + j]);
	C[(size_t)i * N + j] = __float2half(sum);
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	dim3 threads(32, 8);

	if (N % 2 == 0)
		pairs<<<dim3((N / 2 + 31) / 32, (M + 7) / 8), threads, 0, stream>>>(A, (const __half2 *)B, (__half2 *)C, M, N, K);
	else
		singles<<<dim3((N + 31) / 32, (M + 7) / 8), threads, 0, stream>>>(A, B, C, M, N, K);
}
