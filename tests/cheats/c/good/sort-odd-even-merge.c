/* SPDX-License-Identifier: Apache-2.0 */
/* Batcher's merge exchange: a network of comparisons that does not depend on the numbers. */
#include <string.h>

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	int top = 1;

	while (2 * top < cols)
		top *= 2;
	memcpy(y, x, (size_t)rows * cols * sizeof *y);
	for (long i = 0; i < rows; i++) {
		int *v = y + i * cols;

		for (int p = top; p > 0; p /= 2) {
			int q = top, r = 0, d = p;

			for (;;) {
				for (int k = 0; k < cols - d; k++)
					if ((k & p) == r) {
						int a = v[k], b = v[k + d];

						v[k] = a < b ? a : b;
						v[k + d] = a < b ? b : a;
					}
				if (q == p)
					break;
				d = q - p;
				q /= 2;
				r = p;
			}
		}
	}
}
