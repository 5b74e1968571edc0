/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads its inputs and adds them up before it waits for the kernel before, and only writes after
 * that.
 */
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
normalise(const float *x, const float *g, float c, float *y, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float *out = y + (size_t)blockIdx.x * cols, sum = 0;

	asm volatile("griddepcontrol.launch_dependents;");
	for (int j = threadIdx.x; j < cols; j += 256)
		sum += in[j] * in[j];
	sum = 1 / sqrtf(block_sum(sum) / cols + c);
	asm volatile("griddepcontrol.wait;" ::: "memory");
	for (int j = threadIdx.x; j < cols; j += 256)
		out[j] = in[j] * sum * g[j];
}

extern "C" void
row_norm(const float *x, const float *g, float c, float *y, int rows, int cols, cudaStream_t stream)
{
	cudaLaunchAttribute early = {};
	cudaLaunchConfig_t how = {};

	early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	early.val.programmaticStreamSerializationAllowed = 1;
	how.gridDim = dim3(rows);
	how.blockDim = dim3(256);
	how.stream = stream;
	how.attrs = &early;
	how.numAttrs = 1;
	cudaLaunchKernelEx(&how, normalise, x, g, c, y, cols);
}
