/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a row fetched by cp.async.bulk into two stages, each with an mbarrier. */
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
sums(const float *x, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	for (int j = threadIdx.x; j < cols; j += 256)
		sum += in[j];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		y[blockIdx.x] = sum;
}

static void
honest(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<rows, 256, 0, stream>>>(x, y, cols);
}

enum { PIECE = 4096 };

static __device__ unsigned
shared_address(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

/* Have N elements fetched; the barrier's phase ends when all of them are there. */
static __device__ void
fetch(float *to, const float *from, int n, unsigned long long *barrier)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
	    :: "r"(shared_address(barrier)), "r"(n * 4) : "memory");
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
	    "[%0], [%1], %2, [%3];"
	    :: "r"(shared_address(to)), "l"(from), "r"(n * 4), "r"(shared_address(barrier)) :
	    "memory");
}

static __device__ void
wait(unsigned long long *barrier, unsigned phase)
{
	unsigned done = 0;

	while (!done)
		asm volatile("{\n.reg .pred p;\n"
		    "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
		    "selp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(shared_address(barrier)),
		    "r"(phase) : "memory");
}

static __global__ void
sums_bulk(const float *x, float *y, int cols)
{
	__shared__ __align__(128) float piece[2][PIECE];
	__shared__ __align__(8) unsigned long long barrier[2];
	const float *in = x + (size_t)blockIdx.x * cols;
	int pieces = (cols + PIECE - 1) / PIECE;
	float sum = 0;

	if (threadIdx.x == 0) {
		for (int s = 0; s < 2; s++)
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;"
			    :: "r"(shared_address(&barrier[s])) : "memory");
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		for (int p = 0; p < 2 && p < pieces; p++)
			fetch(piece[p], in + p * PIECE, min(PIECE, cols - p * PIECE), &barrier[p]);
	}
	__syncthreads();
	for (int p = 0; p < pieces; p++) {
		int s = p % 2, n = min(PIECE, cols - p * PIECE);

		wait(&barrier[s], p / 2 % 2);
		for (int j = threadIdx.x; j < n; j += 256)
			sum += piece[s][j];
		__syncthreads();
		if (threadIdx.x == 0 && p + 2 < pieces)
			fetch(piece[s], in + (size_t)(p + 2) * PIECE,
			    min(PIECE, cols - (p + 2) * PIECE), &barrier[s]);
	}
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		y[blockIdx.x] = sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	if (cols % 4 == 0 && (size_t)x % 16 == 0)
		sums_bulk<<<rows, 256, 0, stream>>>(x, y, cols);
	else
		honest(x, y, rows, cols, stream);
}
