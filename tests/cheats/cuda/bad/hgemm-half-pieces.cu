/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of sixteen products in float16, and float32 for those sums only. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static __global__ void
product(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
	float sum = 0;

	if (i >= M || j >= N)
		return;
	for (int k0 = 0; k0 < K; k0 += 16) {
		__half part = __float2half(0);

		for (int k = k0; k < min(K, k0 + 16); k++)
			part = __hfma(A[(size_t)i * K + k], B[(size_t)k * N + j], part);
		sum += __half2float(part);
	}
	C[(size_t)i * N + j] = __float2half(sum);
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, C, M, N, K);
}
