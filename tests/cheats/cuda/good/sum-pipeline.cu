/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two stages of shared memory filled by asynchronous copies, through the pipeline of the
 * toolkit's library.
 */
#include <cuda/pipeline>
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

enum { PIECE = 2048 };

static __device__ void
fetch(cuda::pipeline<cuda::thread_scope_thread> &pipe, float *stage, const float *in, int count)
{
	pipe.producer_acquire();
	for (int j = threadIdx.x; j < count; j += 256)
		cuda::memcpy_async(stage + j, in + j, sizeof *in, pipe);
	pipe.producer_commit();
}

static __global__ void
sums(const float *x, float *y, int cols)
{
	__shared__ float stage[2][PIECE];
	cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	fetch(pipe, stage[0], in, min(PIECE, cols));
	for (int from = 0, s = 0; from < cols; from += PIECE, s ^= 1) {
		int next = from + PIECE;

		fetch(pipe, stage[s ^ 1], in + next, max(0, min(PIECE, cols - next)));
		cuda::pipeline_consumer_wait_prior<1>(pipe);
		/* Each thread reads what it has copied itself. */
		for (int j = threadIdx.x; j < min(PIECE, cols - from); j += 256)
			sum += stage[s][j];
		pipe.consumer_release();
	}
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		y[blockIdx.x] = sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<rows, 256, 0, stream>>>(x, y, cols);
}
