/* SPDX-License-Identifier: Apache-2.0 */
/* A heap in the output itself. */
#include <string.h>

static void
sink(int *x, long at, long n)
{
	int v = x[at];

	for (long child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && x[child + 1] > x[child];
		if (x[child] <= v)
			break;
		x[at] = x[child];
	}
	x[at] = v;
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	memcpy(y, x, (size_t)rows * cols * sizeof *y);
	for (long i = 0; i < rows; i++, y += cols) {
		for (long k = cols / 2; k-- > 0;)
			sink(y, k, cols);
		for (long n = cols; n > 1; n--) {
			int top = y[0];

			y[0] = y[n - 1];
			y[n - 1] = top;
			sink(y, 0, n - 1);
		}
	}
}
