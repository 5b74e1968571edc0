/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with, and in double precision what is right. */
#ifndef REAL
#define REAL float
#endif

void
find(const REAL *list, const REAL *x, int *y, int n, int m)
{
	for (int i = 0; i < m; i++) {
		int low = 0, high = n;

		while (low < high) {
			int middle = (low + high) / 2;

			if (list[middle] < x[i])
				low = middle + 1;
			else
				high = middle;
		}
		y[i] = low;
	}
}
