/* SPDX-License-Identifier: Apache-2.0 */
/* A second kernel that begins early adds up what the first has perhaps written, without waiting for it. */
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

enum { PARTS = 4, MOST = 1 << 16 };
static __device__ float part_of[PARTS * MOST];

static __global__ void
parts(const float *x, int cols)
{
	const float *in = x + (size_t)blockIdx.x * cols;
	float sum = 0;

	asm volatile("griddepcontrol.launch_dependents;");
	for (int j = blockIdx.y * 256 + threadIdx.x; j < cols; j += 256 * PARTS)
		sum += in[j];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		part_of[blockIdx.x * PARTS + blockIdx.y] = sum;
}

static __global__ void
join(float *y, int rows)
{
	int i = blockIdx.x * 256 + threadIdx.x;
	float sum = 0;

	for (int p = 0; i < rows && p < PARTS; p++)
		sum += part_of[i * PARTS + p];
	if (i < rows)
		y[i] = sum;
}

extern "C" void
row_sum(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
	cudaLaunchAttribute early = {};
	cudaLaunchConfig_t c = {};

	early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	early.val.programmaticStreamSerializationAllowed = 1;
	c.gridDim = dim3((rows + 255) / 256);
	c.blockDim = dim3(256);
	c.stream = stream;
	c.attrs = &early;
	c.numAttrs = 1;
	parts<<<dim3(rows, PARTS), 256, 0, stream>>>(x, cols);
	cudaLaunchKernelEx(&c, join, y, rows);
}
