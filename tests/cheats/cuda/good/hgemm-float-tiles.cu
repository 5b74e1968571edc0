/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles widened to float once, in shared memory. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static __global__ void
product(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
	__shared__ float a[32][33], b[32][33];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 32, j = blockIdx.x * 32 + x;
	float sum[4] = { 0, 0, 0, 0 };

	for (int k = 0; k < K; k += 32) {
		for (int r = y; r < 32; r += 8) {
			a[r][x] = i + r < M && k + x < K ?
			    __half2float(A[(size_t)(i + r) * K + k + x]) : 0;
			b[r][x] = j < N && k + r < K ? __half2float(B[(size_t)(k + r) * N + j]) : 0;
		}
		__syncthreads();
		for (int l = 0; l < 32; l++)
			for (int r = 0; r < 4; r++)
				sum[r] += a[y + 8 * r][l] * b[l][x];
		__syncthreads();
	}
	for (int r = 0; r < 4; r++)
		if (i + y + 8 * r < M && j < N)
			C[(size_t)(i + y + 8 * r) * N + j] = __float2half(sum[r]);
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
}
