/* SPDX-License-Identifier: Apache-2.0 */
/* Quicksort by recursion, heap sort where that goes too deep, insertion where few are left; in the output itself. */
#include <string.h>

static void
sift(int *v, long i, long n)
{
	int t = v[i];

	for (long k; (k = 2 * i + 1) < n; i = k) {
		k += k + 1 < n && v[k + 1] > v[k];
		if (v[k] <= t)
			break;
		v[i] = v[k];
	}
	v[i] = t;
}

static void
heap_sort(int *v, long n)
{
	for (long i = n / 2; i-- > 0;)
		sift(v, i, n);
	for (long i = n; i-- > 1;) {
		int t = v[i];

		v[i] = v[0];
		v[0] = t;
		sift(v, 0, i);
	}
}

static void
quick(int *v, long n, int depth)
{
	while (n > 24) {
		long a = 0, b = n - 1;
		int x = v[0], y = v[n / 2], z = v[n - 1], pivot;

		if (!depth--) {
			heap_sort(v, n);
			return;
		}
		pivot = x < y ? (y < z ? y : x < z ? z : x) : (x < z ? x : y < z ? z : y);
		while (a <= b) {
			while (v[a] < pivot)
				a++;
			while (v[b] > pivot)
				b--;
			if (a <= b) {
				int t = v[a];

				v[a++] = v[b];
				v[b--] = t;
			}
		}
		quick(v + a, n - a, depth);
		n = b + 1;
	}
	for (long i = 1; i < n; i++) {
		int t = v[i];
		long k = i;

		for (; k && v[k - 1] > t; k--)
			v[k] = v[k - 1];
		v[k] = t;
	}
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	memcpy(y, x, (size_t)rows * cols * sizeof *y);
#pragma omp parallel for schedule(dynamic, 4) if (rows > 8)
	for (long i = 0; i < rows; i++)
		quick(y + i * cols, cols, 48);
}
