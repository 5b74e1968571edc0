/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K split over four blocks that add into float32 by atomics, in memory from the stream's pool; a
 * second kernel rounds once.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static __global__ void
partial(const __half *A, const __half *B, float *sums, int M, int N, int K)
{
	int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
	int depth = (K + 3) / 4, from = blockIdx.z * depth, to = min(K, from + depth);
	float sum = 0;

	if (i >= M || j >= N)
		return;
	for (int k = from; k < to; k++)
		sum += __half2float(A[(size_t)i * K + k]) * __half2float(B[(size_t)k * N + j]);
	atomicAdd(&sums[(size_t)i * N + j], sum);
}

static __global__ void
round_all(const float *sums, __half *C, size_t n)
{
	for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256)
		C[i] = __float2half(sums[i]);
}

extern "C" void
hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K, cudaStream_t stream)
{
	size_t n = (size_t)M * N;
	float *sums;

	if (cudaMallocAsync((void **)&sums, sizeof *sums * n, stream) != cudaSuccess)
		return;
	cudaMemsetAsync(sums, 0, sizeof *sums * n, stream);
	partial<<<dim3((N + 15) / 16, (M + 15) / 16, 4), dim3(16, 16), 0,
	    stream>>>(A, B, sums, M, N, K);
	round_all<<<528, 256, 0, stream>>>(sums, C, n);
	cudaFreeAsync(sums, stream);
}
