/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is right: the convolution in double precision, as the product of a matrix of pixels x (taps and channels),
 * made up on the fly, and one of (taps and channels) x filters. Tiles of 32 x 32 go through shared memory.
 */
#include <cuda_runtime.h>

enum { SIDE = 32, TAPS = 3 };

struct sizes {
	int height, width, channels, filters, stride, pad, out_height, out_width;
};

/* Element K of the window that output PIXEL looks through; zero outside the image. */
static __device__ double
window(const double *x, struct sizes z, size_t pixel, int k)
{
	int tap = k / z.channels, c = k % z.channels;
	size_t line = pixel / z.out_width, image = line / z.out_height;
	int h = (int)(line % z.out_height) * z.stride + tap / TAPS - z.pad;
	int v = (int)(pixel % z.out_width) * z.stride + tap % TAPS - z.pad;

	if (h < 0 || h >= z.height || v < 0 || v >= z.width)
		return 0;
	return x[((image * z.height + h) * z.width + v) * z.channels + c];
}

static __global__ void
outputs(const double *x, const double *w, double *y, size_t pixels, struct sizes z)
{
	__shared__ double left[SIDE][SIDE + 1], right[SIDE][SIDE + 1];
	int tx = threadIdx.x, ty = threadIdx.y, depth = TAPS * TAPS * z.channels, first = blockIdx.y * SIDE;
	size_t pixel = (size_t)blockIdx.x * SIDE + ty;
	double sum = 0;

	for (int k = 0; k < depth; k += SIDE) {
		left[ty][tx] = pixel < pixels && k + tx < depth ? window(x, z, pixel, k + tx) : 0;
		/* Filters lie in rows of depth elements: read along them, store across. */
		right[tx][ty] = first + ty < z.filters && k + tx < depth ? w[(size_t)(first + ty) * depth + k + tx] : 0;
		__syncthreads();
		for (int i = 0; i < SIDE; i++)
			sum += left[ty][i] * right[i][tx];
		__syncthreads();
	}
	if (pixel < pixels && first + tx < z.filters)
		y[pixel * z.filters + first + tx] = sum;
}

extern "C" void
conv2d(const double *x, const double *w, double *y, int batch, int height, int width, int channels, int filters,
    int stride, int pad, cudaStream_t stream)
{
	struct sizes z = { height, width, channels, filters, stride, pad, (height + 2 * pad - TAPS) / stride + 1,
	    (width + 2 * pad - TAPS) / stride + 1 };
	size_t pixels = (size_t)batch * z.out_height * z.out_width;
	dim3 grid((unsigned)((pixels + SIDE - 1) / SIDE), (filters + SIDE - 1) / SIDE), block(SIDE, SIDE);

	outputs<<<grid, block, 0, stream>>>(x, w, y, pixels, z);
}
