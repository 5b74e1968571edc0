/* SPDX-License-Identifier: Apache-2.0 */
/* Images: made up on the host, kept on the device. */
#include <cstdint>

#include "mosaic.h"

enum { TILE = 24 };

/* A number in [0, 1) that depends on its arguments alone (a step of splitmix64). */
static mosaic_real
noise(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9E3779B97F4A7C15u + b * 0xBF58476D1CE4E5B9u + 0x94D049BB133111EBu;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return (mosaic_real)((z ^ (z >> 31)) >> 40) / (1 << 24);
}

/* Tiles of one shade each, with grain. */
std::vector<mosaic_real>
mosaic_scene(int width, int height, unsigned seed)
{
	std::vector<mosaic_real> image((size_t)width * height);

	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			image[(size_t)y * width + x] = 0.8f * noise(seed, (uint64_t)(y / TILE) << 32 | (uint64_t)(x / TILE)) +
			    0.2f * noise(seed + 1u, (uint64_t)y << 32 | (uint64_t)x);
	return image;
}

mosaic_frame
mosaic_new_frame(int width, int height, unsigned seed)
{
	std::vector<mosaic_real> image = mosaic_scene(width, height, seed);
	size_t bytes = image.size() * sizeof(mosaic_real);
	mosaic_frame frame = { width, height, nullptr, nullptr };

	MOSAIC_CHECK(cudaMalloc((void **)&frame.pixels, bytes));
	MOSAIC_CHECK(cudaMalloc((void **)&frame.soft, bytes));
	MOSAIC_CHECK(cudaMemcpy(frame.pixels, image.data(), bytes, cudaMemcpyHostToDevice));
	return frame;
}

void
mosaic_free_frame(mosaic_frame *frame)
{
	MOSAIC_CHECK(cudaFree(frame->pixels));
	MOSAIC_CHECK(cudaFree(frame->soft));
}
