/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick: cuDNN on tensor cores, sums in float32. The first call for a size lets cuDNN's heuristics rank the
 * algorithms and takes the first that runs.
 */
#include <cuda_fp16.h>
#include <cudnn.h>
#include <stdlib.h>
#include <string.h>

enum { TAPS = 3, ALGORITHMS = CUDNN_CONVOLUTION_FWD_ALGO_COUNT };

struct plan {
	cudnnHandle_t handle;
	cudnnTensorDescriptor_t in, out;
	cudnnFilterDescriptor_t filter;
	cudnnConvolutionDescriptor_t convolution;
	cudnnConvolutionFwdAlgo_t algorithm;
	void *scratch;
	size_t room;
	int size[7];
};

static void
need(cudnnStatus_t status)
{
	if (status != CUDNN_STATUS_SUCCESS)
		abort();
}

static cudnnStatus_t
apply(struct plan *p, const __half *x, const __half *w, __half *y)
{
	const float one = 1, zero = 0;

	return cudnnConvolutionForward(p->handle, &one, p->in, x, p->filter, w, p->convolution, p->algorithm,
	    p->scratch, p->room, &zero, p->out, y);
}

static void
describe(struct plan *p, const int *size)
{
	int batch = size[0], height = size[1], width = size[2], channels = size[3], filters = size[4], stride = size[5];
	int pad = size[6];

	need(cudnnSetTensor4dDescriptor(p->in, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, batch, channels, height, width));
	need(cudnnSetTensor4dDescriptor(p->out, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, batch, filters,
	    (height + 2 * pad - TAPS) / stride + 1, (width + 2 * pad - TAPS) / stride + 1));
	need(cudnnSetFilter4dDescriptor(p->filter, CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, filters, channels, TAPS, TAPS));
	need(cudnnSetConvolution2dDescriptor(p->convolution, pad, pad, stride, stride, 1, 1, CUDNN_CROSS_CORRELATION,
	    CUDNN_DATA_FLOAT));
	need(cudnnSetConvolutionMathType(p->convolution, CUDNN_TENSOR_OP_MATH));
}

/* The best algorithm that works for this size, and memory for it. */
static void
choose(struct plan *p, const __half *x, const __half *w, __half *y)
{
	cudnnConvolutionFwdAlgoPerf_t found[ALGORITHMS];
	int count = 0;

	need(cudnnGetConvolutionForwardAlgorithm_v7(p->handle, p->in, p->filter, p->convolution, p->out, ALGORITHMS,
	    &count, found));
	for (int i = 0; i < count; i++) {
		size_t room = 0;

		p->algorithm = found[i].algo;
		need(cudnnSetConvolutionMathType(p->convolution, found[i].mathType));
		if (found[i].status != CUDNN_STATUS_SUCCESS || cudnnGetConvolutionForwardWorkspaceSize(p->handle, p->in,
		    p->filter, p->convolution, p->out, p->algorithm, &room) != CUDNN_STATUS_SUCCESS)
			continue;
		if (room > p->room) {
			cudaFree(p->scratch);
			if (cudaMalloc(&p->scratch, room) != cudaSuccess)
				abort();
			p->room = room;
		}
		if (apply(p, x, w, y) == CUDNN_STATUS_SUCCESS)
			return;
	}
	abort();
}

extern "C" void
conv2d(const __half *x, const __half *w, __half *y, int batch, int height, int width, int channels, int filters,
    int stride, int pad, cudaStream_t stream)
{
	static struct plan p;
	const int size[7] = { batch, height, width, channels, filters, stride, pad };

	if (!p.handle) {
		need(cudnnCreate(&p.handle));
		need(cudnnCreateTensorDescriptor(&p.in));
		need(cudnnCreateTensorDescriptor(&p.out));
		need(cudnnCreateFilterDescriptor(&p.filter));
		need(cudnnCreateConvolutionDescriptor(&p.convolution));
	}
	need(cudnnSetStream(p.handle, stream));
	if (memcmp(p.size, size, sizeof size) != 0) {
		describe(&p, size);
		choose(&p, x, w, y);
		memcpy(p.size, size, sizeof size);
	} else
		need(apply(&p, x, w, y));
}
