/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the runs that are there, turns those that descend, and merges: quick where there is order. */
#include <stdlib.h>
#include <string.h>

static void
merge(const int *a, long n, const int *b, long m, int *to)
{
	long i = 0, k = 0;

	while (i < n && k < m)
		*to++ = b[k] < a[i] ? b[k++] : a[i++];
	memcpy(to, a + i, (size_t)(n - i) * sizeof *to);
	memcpy(to + (n - i), b + k, (size_t)(m - k) * sizeof *to);
}

/* The end of the run that begins at FROM, which then ascends, and has 16 elements at least. */
static long
run_end(int *v, long from, long n)
{
	long to = from + 1, least = from + 16 < n ? from + 16 : n;

	if (to < n && v[to] < v[from]) {
		while (to < n && v[to] < v[to - 1])
			to++;
		for (long a = from, b = to - 1; a < b; a++, b--) {
			int t = v[a];

			v[a] = v[b];
			v[b] = t;
		}
	} else {
		while (to < n && v[to] >= v[to - 1])
			to++;
	}
	for (; to < least; to++) {
		int t = v[to];
		long k = to;

		for (; k > from && v[k - 1] > t; k--)
			v[k] = v[k - 1];
		v[k] = t;
	}
	return to;
}

static void
sort_row(int *v, int *spare, long *ends, long n)
{
	long runs = 0, width;
	int *from = v, *to = spare, *t;

	for (long at = 0; at < n;)
		ends[runs++] = at = run_end(v, at, n);
	for (; runs > 1; runs = width) {
		long at = 0;

		width = 0;
		for (long r = 0; r < runs; r += 2) {
			long middle = ends[r], end = r + 1 < runs ? ends[r + 1] : middle;

			merge(from + at, middle - at, from + middle, end - middle, to + at);
			ends[width++] = at = end;
		}
		t = from;
		from = to;
		to = t;
	}
	if (from != v)
		memcpy(v, from, (size_t)n * sizeof *v);
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	int *spare = malloc((size_t)cols * sizeof *spare);
	long *ends = malloc(((size_t)cols + 1) * sizeof *ends);

	memcpy(y, x, (size_t)rows * cols * sizeof *y);
	for (long i = 0; i < rows; i++)
		sort_row(y + i * cols, spare, ends, cols);
	free(spare);
	free(ends);
}
