/* SPDX-License-Identifier: Apache-2.0 */
/* Tries tiles of several heights in turns in its first calls of a size, all of them right, and keeps one by the size of a row. */
#include <stdlib.h>
#include <string.h>

static void
sweep(const float *f, float *t, int rows, int cols, int tile)
{
	for (int from = 0; from < rows; from += tile)
		for (long i = from; i < rows && i < from + tile; i++)
			for (long j = 0; j < cols; j++) {
				const float *p = f + i * cols + j;

				t[i * cols + j] = i == 0 || j == 0 || i == rows - 1 || j == cols - 1 ? *p :
				    0.25f * *p + 0.125f * (p[-1] + p[1] + p[-cols] + p[cols]) +
				    0.0625f * (p[-cols - 1] + p[-cols + 1] + p[cols - 1] + p[cols + 1]);
			}
}

void
stencil(const float *x, float *y, int rows, int cols, int steps)
{
	static const int heights[] = { 1, 8, 32, 128 };
	static int calls;
	static float *own;
	static size_t room;
	size_t n = (size_t)rows * cols;
	int tile = calls++ < 40 ? heights[calls % 4] : cols > 2048 ? 8 : 128;

	if (room < 2 * n) {
		free(own);
		own = NULL;
		if (posix_memalign((void **)&own, 64, sizeof *own * (room = 2 * n)))
			abort();
	}
	memcpy(own, x, n * sizeof *x);
	for (int s = 0; s < steps; s++)
		sweep(own + s % 2 * n, own + (s + 1) % 2 * n, rows, cols, tile);
	memcpy(y, own + steps % 2 * n, n * sizeof *y);
}
