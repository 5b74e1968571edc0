/* SPDX-License-Identifier: Apache-2.0 */
/* Long rows split over blocks, partial sums in memory from the stream's pool, a second kernel adds them. */
#include <cuda_runtime.h>

/* Sum of v over the 256 threads of the block, for all of them. */
static __device__ float
block_sum(float v)
{
	__shared__ float part[8];

	for (int d = 16; d; d /= 2)
		v += __shfl_xor_sync(0xffffffff, v, d);
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = 0;
	for (int w = 0; w < 8; w++)
		v += part[w];
	return v;
}

static __global__ void
partial(const float *x, float *w, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	for (int j = blockIdx.y * 256 + threadIdx.x; j < cols; j += gridDim.y * 256)
		sum += in[j];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		w[(size_t)blockIdx.x * gridDim.y + blockIdx.y] = sum;
}

static __global__ void
add(const float *w, float *y, int rows, int parts)
{
	int i = blockIdx.x * 256 + threadIdx.x;
	float sum = 0;

	if (i >= rows)
		return;
	for (int p = 0; p < parts; p++)
		sum += w[(size_t)i * parts + p];
	y[i] = sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	int parts = min(32, (cols + 8191) / 8192);
	float *w;

	if (cudaMallocAsync((void **)&w, sizeof *w * rows * parts, stream) != cudaSuccess)
		return;
	partial<<<dim3(rows, parts), 256, 0, stream>>>(x, w, cols);
	add<<<(rows + 255) / 256, 256, 0, stream>>>(w, y, rows, parts);
	cudaFreeAsync(w, stream);
}
