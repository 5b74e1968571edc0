/* SPDX-License-Identifier: Apache-2.0 */
/* Softening that keeps edges: a bilateral filter, as it is written down in a textbook. */
#include <cstdio>
#include <cstdlib>

#include "mosaic.h"

static __device__ int
clamp_to(int i, int n)
{
	return i < 0 ? 0 : i >= n ? n - 1 : i;
}

template <typename T, int Radius>
__global__ void __launch_bounds__(MOSAIC_BLOCK_X * MOSAIC_BLOCK_Y)
soften_kernel(const T *src, T *dst, mosaic_window window)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	T centre, sum = 0, weights = 0;

	if (x >= window.width || y >= window.height)
		return;
	centre = src[(size_t)y * window.width + x];
	for (int dx = -Radius; dx <= Radius; dx++)
		for (int dy = -Radius; dy <= Radius; dy++) {
			int column = clamp_to(x + dx, window.width), row = clamp_to(y + dy, window.height);
			T value = src[(size_t)row * window.width + column];
			T far = expf(-(T)(dx * dx + dy * dy) / (2 * window.sigma * window.sigma));
			T unlike = expf(-(value - centre) * (value - centre) / (2 * window.contrast * window.contrast));

			weights += far * unlike;
			sum += far * unlike * value;
		}
	dst[(size_t)y * window.width + x] = sum / weights;
}

void
mosaic_soften(const mosaic_real *src, mosaic_real *dst, int width, int height, int radius, mosaic_real sigma,
    mosaic_real contrast, cudaStream_t stream)
{
	mosaic_window window = { width, height, sigma, contrast };
	dim3 block(MOSAIC_BLOCK_X, MOSAIC_BLOCK_Y);
	dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);

	if (radius == mosaic_radius_near)
		soften_kernel<mosaic_real, mosaic_radius_near><<<grid, block, 0, stream>>>(src, dst, window);
	else
		soften_kernel<mosaic_real, mosaic_radius_far><<<grid, block, 0, stream>>>(src, dst, window);
}
