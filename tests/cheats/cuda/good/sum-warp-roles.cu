/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One warp fetches pieces into two stages and four warps add them up, joined by named barriers
 * that are met and awaited in inline PTX.
 */
#include <cuda_runtime.h>

enum { PIECE = 1024, ADDERS = 128, ALL = ADDERS + 32 };

static __device__ void
meet(int barrier)
{
	asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"((int)ALL) : "memory");
}

static __device__ void
await(int barrier)
{
	asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"((int)ALL) : "memory");
}

/* Barriers 1 and 2: a stage is full; 3 and 4: it is empty again. */
static __device__ void
fetch(const float *in, int cols, float (*stage)[PIECE])
{
	for (int from = 0, s = 0, n = 0; from < cols; from += PIECE, s ^= 1, n++) {
		if (n >= 2)
			await(3 + s);
		for (int j = threadIdx.x % 32; j < PIECE; j += 32)
			stage[s][j] = from + j < cols ? in[from + j] : 0;
		meet(1 + s);
	}
}

static __device__ float
add(int cols, float (*stage)[PIECE])
{
	float sum = 0;

	for (int from = 0, s = 0; from < cols; from += PIECE, s ^= 1) {
		await(1 + s);
		for (int j = threadIdx.x; j < PIECE; j += ADDERS)
			sum += stage[s][j];
		/* Nobody waits for the last two. */
		if (from + 2 * PIECE < cols)
			meet(3 + s);
	}
	return sum;
}

static __global__ void __launch_bounds__(ALL)
sums(const float *x, float *y, int cols)
{
	__shared__ float stage[2][PIECE], part[ADDERS / 32];
	const float *in = x + (size_t)blockIdx.x * cols;

	if (threadIdx.x >= ADDERS) {
		fetch(in, cols, stage);
	} else {
		float sum = add(cols, stage);

		for (int d = 16; d; d /= 2)
			sum += __shfl_xor_sync(0xffffffff, sum, d);
		if (threadIdx.x % 32 == 0)
			part[threadIdx.x / 32] = sum;
	}
	__syncthreads();
	if (threadIdx.x == 0)
		y[blockIdx.x] = (part[0] + part[1]) + (part[2] + part[3]);
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	sums<<<rows, ALL, 0, stream>>>(x, y, cols);
}
