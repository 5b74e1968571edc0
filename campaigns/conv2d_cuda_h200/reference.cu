/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution, the way the definition reads: one thread per output, sums in float32. */
#include <cuda_fp16.h>

enum { THREADS = 256, TAPS = 3 };

static __global__ void
outputs(const __half *x, const __half *w, __half *y, size_t count, int height, int width, int channels, int filters,
    int stride, int pad, int out_height, int out_width)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, rest;
	int f, column, row, image;
	float sum = 0;

	if (i >= count)
		return;
	f = (int)(i % filters);
	rest = i / filters;
	column = (int)(rest % out_width);
	rest /= out_width;
	row = (int)(rest % out_height);
	image = (int)(rest / out_height);
	for (int r = 0; r < TAPS; r++)
		for (int s = 0; s < TAPS; s++) {
			int h = row * stride + r - pad, v = column * stride + s - pad;
			const __half *in = x + (((size_t)image * height + h) * width + v) * channels;
			const __half *filter = w + ((size_t)f * TAPS * TAPS + r * TAPS + s) * channels;

			if (h < 0 || h >= height || v < 0 || v >= width)
				continue;
			for (int c = 0; c < channels; c++)
				sum += __half2float(in[c]) * __half2float(filter[c]);
		}
	y[i] = __float2half(sum);
}

extern "C" void
conv2d(const __half *x, const __half *w, __half *y, int batch, int height, int width, int channels, int filters,
    int stride, int pad, cudaStream_t stream)
{
	int out_height = (height + 2 * pad - TAPS) / stride + 1, out_width = (width + 2 * pad - TAPS) / stride + 1;
	size_t count = (size_t)batch * out_height * out_width * filters;

	outputs<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(x, w, y, count, height, width,
	    channels, filters, stride, pad, out_height, out_width);
}
