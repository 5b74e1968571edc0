/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds the inputs to bfloat16 and sums in float32. */
#include <cuda_bf16.h>
#include <cuda_runtime.h>

static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ __nv_bfloat16 a[16][16], b[16][16];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
	float sum = 0;

	for (int k = 0; k < K; k += 16) {
		a[y][x] = __float2bfloat16(i < M && k + x < K ? A[(size_t)i * K + k + x] : 0);
		b[y][x] = __float2bfloat16(j < N && k + y < K ? B[(size_t)(k + y) * N + j] : 0);
		__syncthreads();
		for (int l = 0; l < 16; l++)
			sum += __bfloat162float(a[y][l]) * __bfloat162float(b[l][x]);
		__syncthreads();
	}
	if (i < M && j < N)
		C[(size_t)i * N + j] = sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, C, M, N, K);
}
