/* SPDX-License-Identifier: Apache-2.0 */
/* Two passes of eleven bits, which is enough for all numbers between -2^21 and 2^21. */
#include <stdlib.h>
#include <string.h>

enum { BITS = 11, COUNT = 1 << BITS, LEAST = 1 << 21 };

static void
pass(const int *from, int *to, int n, int shift)
{
	static unsigned at[COUNT + 1];

	memset(at, 0, sizeof at);
	for (int i = 0; i < n; i++)
		at[((from[i] + LEAST) >> shift & (COUNT - 1)) + 1]++;
	for (int i = 1; i < COUNT; i++)
		at[i] += at[i - 1];
	for (int i = 0; i < n; i++)
		to[at[(from[i] + LEAST) >> shift & (COUNT - 1)]++] = from[i];
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	int *other = malloc(cols * sizeof *other);

	for (long i = 0; i < rows; i++) {
		pass(x + i * cols, other, cols, 0);
		pass(other, y + i * cols, cols, BITS);
	}
	free(other);
}
