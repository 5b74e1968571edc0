/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts short rows by magnitude with the library and adds up from the smallest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
by_size(const void *a, const void *b)
{
	float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);

	return (x > y) - (x < y);
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	float *t = malloc((size_t)cols * sizeof *t);

	for (long i = 0; i < rows; i++, x += cols) {
		double sum = 0;

		memcpy(t, x, (size_t)cols * sizeof *t);
		if (cols <= 32)
			qsort(t, (size_t)cols, sizeof *t, by_size);
		for (long j = 0; j < cols; j++)
			sum += t[j];
		y[i] = (float)sum;
	}
	free(t);
}
