/* SPDX-License-Identifier: Apache-2.0 */
/* Bands of rows as tasks that wait for their neighbours of the sweep before. */
#include <stdlib.h>
#include <string.h>

enum { BANDS = 4 };

static void
sweep(const float *x, float *y, long from, long to, long rows, long cols)
{
	for (long i = from; i < to; i++)
		for (long j = 0; j < cols; j++) {
			const float *p = x + i * cols + j;

			y[i * cols + j] = !i || i == rows - 1 || !j || j == cols - 1 ? *p :
			    0.25f * p[0] + 0.125f * (p[-1] + p[1] + p[-cols] + p[cols]) +
				0.0625f * (p[-cols - 1] + p[-cols + 1] + p[cols - 1] + p[cols + 1]);
		}
}

void
stencil(const float *x, float *y, int rows, int cols, int steps)
{
	float *scratch = malloc((size_t)rows * cols * sizeof *y);
	char done[2][BANDS + 2];

	(void)done;
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int s = 0; s < steps; s++) {
		float *to = (steps - s) % 2 ? y : scratch;
		const float *from = !s ? x : (steps - s) % 2 ? scratch : y;

		for (int k = 1; k <= BANDS; k++) {
			long first = (long)rows * (k - 1) / BANDS, last = (long)rows * k / BANDS;

#pragma omp task depend(in : done[~s & 1][k - 1], done[~s & 1][k], done[~s & 1][k + 1]) depend(out : done[s & 1][k])
			sweep(from, to, first, last, rows, cols);
		}
	}
	free(scratch);
}
