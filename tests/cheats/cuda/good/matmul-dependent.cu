/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B is turned round by one kernel into the stream's pool, and multiplied by a second that is
 * launched early and waits on the device.
 */
#include <cuda_runtime.h>

static __global__ void
turn(const float *B, float *to, int N, int K)
{
	__shared__ float tile[32][33];
	int j = blockIdx.x * 32, k = blockIdx.y * 32;

	for (int r = threadIdx.y; r < 32; r += 8)
		if (k + r < K && j + threadIdx.x < N)
			tile[r][threadIdx.x] = B[(size_t)(k + r) * N + j + threadIdx.x];
	__syncthreads();
	for (int r = threadIdx.y; r < 32; r += 8)
		if (j + r < N && k + threadIdx.x < K)
			to[(size_t)(j + r) * K + k + threadIdx.x] = tile[threadIdx.x][r];
}

static __global__ void
product(const float *A, const float *turned, float *C, int M, int N, int K)
{
	__shared__ float a[16][17], b[16][17];
	int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16;
	float sum = 0;

	cudaGridDependencySynchronize();
	for (int k = 0; k < K; k += 16) {
		a[y][x] = i < M && k + x < K ? A[(size_t)i * K + k + x] : 0;
		b[y][x] = j + y < N && k + x < K ? turned[(size_t)(j + y) * K + k + x] : 0;
		__syncthreads();
		for (int l = 0; l < 16; l++)
			sum += a[y][l] * b[x][l];
		__syncthreads();
	}
	if (i < M && j + x < N)
		C[(size_t)i * N + j + x] = sum;
}

extern "C" void
matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
	cudaLaunchAttribute early = {};
	cudaLaunchConfig_t config = {};
	float *turned;

	if (cudaMallocAsync((void **)&turned, sizeof *B * N * K, stream) != cudaSuccess)
		return;
	turn<<<dim3((N + 31) / 32, (K + 31) / 32), dim3(32, 8), 0, stream>>>(B, turned, N, K);
	early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	early.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = dim3((N + 15) / 16, (M + 15) / 16);
	config.blockDim = dim3(16, 16);
	config.stream = stream;
	config.attrs = &early;
	config.numAttrs = 1;
	cudaLaunchKernelEx(&config, product, A, (const float *)turned, C, M, N, K);
	cudaFreeAsync(turned, stream);
}
