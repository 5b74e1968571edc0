/* SPDX-License-Identifier: Apache-2.0 */
/* The curve that images go through last. */
#include "mosaic.h"

static __global__ void
tone_kernel(mosaic_real *pixels, int count, mosaic_real gamma)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		pixels[i] = powf(fmaxf(pixels[i], 0.0f), gamma);
}

void
mosaic_tone(mosaic_real *pixels, int count, mosaic_real gamma, cudaStream_t stream)
{
	const int block = 256;

	tone_kernel<<<(count + block - 1) / block, block, 0, stream>>>(pixels, count, gamma);
}
