/* SPDX-License-Identifier: Apache-2.0 */
/* All sweeps row by row, with three rows of each sweep in a ring. */
#include <stdlib.h>
#include <string.h>

static void
row(const float *up, const float *here, const float *down, float *out, int cols)
{
	out[0] = here[0];
	out[cols - 1] = here[cols - 1];
	for (int j = 1; j < cols - 1; j++)
		out[j] = 0.25f * here[j] + 0.125f * (here[j - 1] + here[j + 1] + up[j] + down[j]) +
		    0.0625f * (up[j - 1] + up[j + 1] + down[j - 1] + down[j + 1]);
}

void
stencil(const float *x, float *y, int rows, int cols, int steps)
{
	size_t bytes = (size_t)cols * sizeof *x;
	float *ring = malloc(((size_t)steps + 1) * 3 * bytes);
#define RING(s, i) (ring + ((long)(s) * 3 + (i) % 3) * cols)

	for (long t = 0; t < rows + steps; t++)
		for (int s = 0; s <= steps; s++) {
			long i = t - s;

			if (i < 0 || i >= rows)
				continue;
			if (s == 0)
				memcpy(RING(0, i), x + i * cols, bytes);
			else if (i == 0 || i == rows - 1)
				memcpy(RING(s, i), RING(s - 1, i), bytes);
			else
				row(RING(s - 1, i - 1), RING(s - 1, i), RING(s - 1, i + 1), RING(s, i),
				    cols);
			if (s == steps)
				memcpy(y + i * cols, RING(s, i), bytes);
		}
	free(ring);
}
