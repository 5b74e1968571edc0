/* SPDX-License-Identifier: Apache-2.0 */
/* mosaic_types: what host and device share. */
#ifndef MOSAIC_TYPES_H
#define MOSAIC_TYPES_H

typedef float mosaic_real;

/* Threads of a block, across and down an image. */
#define MOSAIC_BLOCK_X 32
#define MOSAIC_BLOCK_Y 8

constexpr int mosaic_radius_near = 1, mosaic_radius_far = 5;

/* What a kernel has to know of an image and of how it is softened. */
struct mosaic_window {
	int width, height;
	mosaic_real sigma;	/* of pixels in distance */
	mosaic_real contrast;	/* of pixels in value: an edge higher than this is kept */
};

#endif
