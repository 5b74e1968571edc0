/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum and sum in one pass, rescaled as the maximum grows. */
#include <cuda_runtime.h>

struct state { float max, sum; };

static __device__ struct state
merge(struct state a, struct state b)
{
	float max = fmaxf(a.max, b.max);

	if (max == -INFINITY)
		return a;
	return (struct state){ max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max) };
}

static __global__ void
soft(const float *x, float *y, int cols)
{
	__shared__ struct state part[8];
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols;
	struct state s = { -INFINITY, 0 }, other;

	for (int j = threadIdx.x; j < cols; j += 256) {
		other.max = in[j];
		other.sum = 1;
		s = merge(s, other);
	}
	for (int d = 16; d; d /= 2) {
		other.max = __shfl_xor_sync(0xffffffff, s.max, d);
		other.sum = __shfl_xor_sync(0xffffffff, s.sum, d);
		s = merge(s, other);
	}
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = s;
	__syncthreads();
	s = part[0];
	for (int w = 1; w < 8; w++)
		s = merge(s, part[w]);
	for (int j = threadIdx.x; j < cols; j += 256)
		out[j] = expf(in[j] - s.max) / s.sum;
}

extern "C" void
softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	soft<<<rows, 256, 0, stream>>>(x, y, cols);
}
