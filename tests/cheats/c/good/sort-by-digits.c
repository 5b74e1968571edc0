/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets by quotient and remainder, as the library divides, then insertion within them. */
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		long long low = x[0], high = x[0], width;
		long begin[BUCKETS + 1] = { 0 };

		for (long j = 1; j < cols; j++) {
			low = x[j] < low ? x[j] : low;
			high = x[j] > high ? x[j] : high;
		}
		width = llabs(high - low) / BUCKETS + 1;
		for (long j = 0; j < cols; j++)
			begin[lldiv(x[j] - low, width).quot + 1]++;
		for (long k = 0; k < BUCKETS; k++)
			begin[k + 1] += begin[k];
		for (long j = 0; j < cols; j++)
			y[begin[lldiv(x[j] - low, width).quot]++] = x[j];
		for (long j = 1; j < cols; j++) {
			int v = y[j];
			long k = j;

			for (; k > 0 && y[k - 1] > v; k--)
				y[k] = y[k - 1];
			y[k] = v;
		}
	}
}
