/* SPDX-License-Identifier: Apache-2.0 */
/* mosaic: images in device memory, and what is done to them. */
#ifndef MOSAIC_H
#define MOSAIC_H

#include <cuda_runtime.h>
#include <vector>

#include "mosaic_types.h"

struct mosaic_frame {
	int width, height;
	mosaic_real *pixels, *soft;	/* device memory, row by row */
};

/* Ends the program with what CUDA says, and where. */
void mosaic_check(cudaError_t error, const char *file, int line);
#define MOSAIC_CHECK(call) mosaic_check((call), __FILE__, __LINE__)

/* scene.cu */
std::vector<mosaic_real> mosaic_scene(int width, int height, unsigned seed);
mosaic_frame mosaic_new_frame(int width, int height, unsigned seed);
void mosaic_free_frame(mosaic_frame *frame);

/*
 * soften.cu: every pixel becomes the mean of the square of pixels within RADIUS (1 or 5; the edge repeated beyond it),
 * weighted by distance (SIGMA) and by likeness (CONTRAST), so that edges stay.
 */
void mosaic_soften(const mosaic_real *src, mosaic_real *dst, int width, int height, int radius, mosaic_real sigma,
    mosaic_real contrast, cudaStream_t stream);

/* tone.cu: a gentle curve over all pixels, in place. */
void mosaic_tone(mosaic_real *pixels, int count, mosaic_real gamma, cudaStream_t stream);

#endif
