/* SPDX-License-Identifier: Apache-2.0 */
/* Two neighbouring columns a thread, loaded as a pair where rows allow it. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

/* Two neighbouring columns a thread. */
static __global__ void
product(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 64 + threadIdx.x * 2;
	bool both = j + 1 < N, paired = N % 2 == 0;
	float2 sum = make_float2(0, 0);

	if (i >= M || j >= N)
		return;
	for (int k = 0; k < K; k++) {
		const __half *b = B + (size_t)k * N + j;
		float a = __half2float(A[(size_t)i * K + k]);
		float2 v = paired ? __half22float2(*(const __half2 *)b) :
		    make_float2(__half2float(b[0]), both ? __half2float(b[1]) : 0);

		sum.x = fmaf(a, v.x, sum.x);
		sum.y = fmaf(a, v.y, sum.y);
	}
	C[(size_t)i * N + j] = __float2half(sum.x);
	if (both)
		C[(size_t)i * N + j + 1] = __float2half(sum.y);
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + 63) / 64, (M + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
}
