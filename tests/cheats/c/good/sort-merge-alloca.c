/* SPDX-License-Identifier: Apache-2.0 */
/* Merges halves, in stack memory that grows and goes with each level, down to insertion. */
#include <alloca.h>
#include <string.h>

static void
insert(int *x, int n)
{
	for (int i = 1; i < n; i++) {
		int v = x[i], j = i;

		for (; j > 0 && x[j - 1] > v; j--)
			x[j] = x[j - 1];
		x[j] = v;
	}
}

static void
merge_sort(int *x, int n)
{
	int half = n / 2, *left, i = 0, j = half, k = 0;

	if (n <= 24) {
		insert(x, n);
		return;
	}
	merge_sort(x, half);
	merge_sort(x + half, n - half);
	if (x[half - 1] <= x[half])
		return;
	left = alloca(half * sizeof *left);
	memcpy(left, x, half * sizeof *left);
	while (i < half)
		x[k++] = j < n && x[j] < left[i] ? x[j++] : left[i++];
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		memcpy(y + i * cols, x + i * cols, cols * sizeof *y);
		merge_sort(y + i * cols, cols);
	}
}
