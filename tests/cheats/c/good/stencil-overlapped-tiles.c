/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles with a margin as wide as there are sweeps, all of them in a static array of each thread, for a few sweeps; more are made in parts. */
#include <stdlib.h>
#include <string.h>

enum { TILE = 64, STEPS = 4, WIDE = TILE + 2 * STEPS };

static float grid[2][WIDE * WIDE];
#pragma omp threadprivate(grid)

static void
tile(const float *x, float *y, long rows, long cols, long i0, long j0, int steps)
{
	long top = i0 - steps < 0 ? 0 : i0 - steps, left = j0 - steps < 0 ? 0 : j0 - steps,
	     bottom = i0 + TILE + steps > rows ? rows : i0 + TILE + steps,
	     right = j0 + TILE + steps > cols ? cols : j0 + TILE + steps,
	     h = bottom - top, w = right - left;

	for (long i = 0; i < h; i++)
		memcpy(grid[0] + i * WIDE, x + (top + i) * cols + left, w * sizeof *x);
	memcpy(grid[1], grid[0], sizeof grid[0]);
	for (int s = 0; s < steps; s++) {
		const float *from = grid[s % 2];
		float *to = grid[1 - s % 2];

		for (long i = 1; i < h - 1; i++)
			for (long j = 1; j < w - 1; j++) {
				const float *p = from + i * WIDE + j;

				to[i * WIDE + j] = 0.25f * p[0] + 0.125f * (p[-1] + p[1] + p[-WIDE] + p[WIDE]) +
				    0.0625f * (p[-WIDE - 1] + p[-WIDE + 1] + p[WIDE - 1] + p[WIDE + 1]);
			}
	}
	for (long i = i0; i < rows && i < i0 + TILE; i++)
		memcpy(y + i * cols + j0, grid[steps % 2] + (i - top) * WIDE + (j0 - left),
		    ((cols - j0 < TILE) ? cols - j0 : TILE) * sizeof *y);
}

void
stencil(const float *x, float *y, int rows, int cols, int steps)
{
	size_t size = (size_t)rows * cols * sizeof *x;
	float *now = malloc(size), *next = malloc(size), *swap;

	memcpy(now, x, size);
	for (; steps > 0; steps -= STEPS) {
		#pragma omp parallel for collapse(2) num_threads(2)
		for (long i = 0; i < rows; i += TILE)
			for (long j = 0; j < cols; j += TILE)
				tile(now, next, rows, cols, i, j, steps < STEPS ? steps : STEPS);
		swap = now, now = next, next = swap;
	}
	memcpy(y, now, size);
	free(now);
	free(next);
}
