/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of 16 in shared memory, sums in double. */
#include <cuda_runtime.h>

enum { T = 16 };

static __global__ void
product(const float *A, const float *B, float *C, int M, int N, int K)
{
	__shared__ float a[T][T], b[T][T + 1];
	int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
	double sum = 0;

	for (int k0 = 0; k0 < K; k0 += T) {
		int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;

		a[threadIdx.y][threadIdx.x] = i < M && ka < K ? A[(size_t)i * K + ka] : 0;
		b[threadIdx.y][threadIdx.x] = j < N && kb < K ? B[(size_t)kb * N + j] : 0;
		__syncthreads();
		for (int k = 0; k < T; k++)
			sum += a[threadIdx.y][k] * b[k][threadIdx.x];
		__syncthreads();
	}
	if (i < M && j < N)
		C[(size_t)i * N + j] = (float)sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	product<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T), 0, stream>>>(A, B, C, M, N, K);
}
