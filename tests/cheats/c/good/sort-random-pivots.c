/* SPDX-License-Identifier: Apache-2.0 */
/* Quicksort with random pivots, whose generator goes on from call to call. */
#include <string.h>

static unsigned long state = 88172645463325252;

static unsigned
any(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 32) % n;
}

static void
sort(int *v, int n)
{
	while (n > 16) {
		int pivot = v[any((unsigned)n)], i = 0, k = n - 1;

		while (i <= k) {
			while (v[i] < pivot)
				i++;
			while (v[k] > pivot)
				k--;
			if (i <= k) {
				int t = v[i];

				v[i++] = v[k];
				v[k--] = t;
			}
		}
		if (k + 1 < n - i) {
			sort(v, k + 1);
			v += i;
			n -= i;
		} else {
			sort(v + i, n - i);
			n = k + 1;
		}
	}
	for (int i = 1; i < n; i++) {
		int t = v[i], k = i;

		for (; k > 0 && v[k - 1] > t; k--)
			v[k] = v[k - 1];
		v[k] = t;
	}
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	for (int r = 0; r < rows; r++) {
		memcpy(y + (long)r * cols, x + (long)r * cols, (unsigned long)cols * sizeof *y);
		sort(y + (long)r * cols, cols);
	}
}
