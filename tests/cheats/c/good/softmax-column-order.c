/* SPDX-License-Identifier: Apache-2.0 */
/* All maxima first, then all sums, in scratch memory with one entry for each row. */
#include <math.h>
#include <stdlib.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	struct { float max; double sum; } *row = calloc((size_t)rows, sizeof *row);

	if (!row)
		abort();
	for (long i = 0; i < rows; i++) {
		row[i].max = -INFINITY;
		for (long j = 0; j < cols; j++)
			row[i].max = fmaxf(row[i].max, x[i * cols + j]);
	}
	for (long i = 0; i < (long)rows * cols; i++)
		row[i / cols].sum += y[i] = expf(x[i] - row[i / cols].max);
	for (long i = 0; i < (long)rows * cols; i++)
		y[i] = (float)(y[i] / row[i / cols].sum);
	free(row);
}
