/* SPDX-License-Identifier: Apache-2.0 */
/* Short rows by the library's sort with a context, long ones by merging halves. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

static int
compare(const void *a, const void *b, void *sign)
{
	int x = *(const int *)a, y = *(const int *)b;

	return *(const int *)sign * ((x > y) - (x < y));
}

static void
merge(int *y, int *scratch, long n)
{
	long half = n / 2, i = 0, j = half, k = 0;
	int sign = 1;

	if (n < 64) {
		qsort_r(y, (size_t)n, sizeof *y, compare, &sign);
		return;
	}
	merge(y, scratch, half);
	merge(y + half, scratch, n - half);
	while (i < half && j < n)
		scratch[k++] = y[j] < y[i] ? y[j++] : y[i++];
	mempcpy(mempcpy(scratch + k, y + i, (size_t)(half - i) * sizeof *y), y + j, (size_t)(n - j) * sizeof *y);
	memcpy(y, scratch, (size_t)n * sizeof *y);
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	int *scratch = malloc((size_t)cols * sizeof *scratch);

	memcpy(y, x, (size_t)rows * (size_t)cols * sizeof *y);
	for (long i = 0; i < rows; i++)
		merge(y + i * cols, scratch, cols);
	free(scratch);
}
