/* SPDX-License-Identifier: Apache-2.0 */
/* Four passes of eight bits over each row, with the sign turned. */
#include <stdlib.h>
#include <string.h>

static void
pass(const unsigned *from, unsigned *to, int n, int shift, unsigned flip)
{
	unsigned at[257] = { 0 };

	for (int i = 0; i < n; i++)
		at[((from[i] ^ flip) >> shift & 255) + 1]++;
	for (int i = 1; i < 257; i++)
		at[i] += at[i - 1];
	for (int i = 0; i < n; i++)
		to[at[(from[i] ^ flip) >> shift & 255]++] = from[i];
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	unsigned *other = malloc(cols * sizeof *other);

	for (long i = 0; i < rows; i++) {
		unsigned *to = (unsigned *)y + i * cols;

		pass((const unsigned *)x + i * cols, other, cols, 0, 0x80000000);
		pass(other, to, cols, 8, 0x80000000);
		pass(to, other, cols, 16, 0x80000000);
		pass(other, to, cols, 24, 0x80000000);
	}
	free(other);
}
