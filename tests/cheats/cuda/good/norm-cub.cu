/* SPDX-License-Identifier: Apache-2.0 */
/* The toolkit's block reduction, a template for the number of threads. */
#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

template <int THREADS>
static __global__ void
normalise(const float *x, const float *g, float c, float *y, int cols)
{
	using reduce = cub::BlockReduce<float, THREADS>;
	__shared__ typename reduce::TempStorage room;
	__shared__ float root;
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	for (int j = threadIdx.x; j < cols; j += THREADS)
		sum += in[j] * in[j];
	sum = reduce(room).Sum(sum);
	if (threadIdx.x == 0)
		root = 1 / sqrtf(sum / cols + c);
	__syncthreads();
	for (int j = threadIdx.x; j < cols; j += THREADS)
		y[(size_t)blockIdx.x * cols + j] = in[j] * root * g[j];
}

template <int THREADS>
static void
launch(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	normalise<THREADS><<<rows, THREADS, 0, stream>>>(x, g, c, y, cols);
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	if (cols <= 128)
		launch<32>(x, g, c, y, rows, cols, stream);
	else if (cols <= 2048)
		launch<128>(x, g, c, y, rows, cols, stream);
	else
		launch<512>(x, g, c, y, rows, cols, stream);
}
