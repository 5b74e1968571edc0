/* SPDX-License-Identifier: Apache-2.0 */
/* Two passes of 16 bits, with 256 KiB of counters in static memory that each pass clears. */
#include <stdlib.h>
#include <string.h>
static unsigned count[65536];
static int *scratch;
static size_t room;

static void
pass(const unsigned *from, unsigned *to, int n, int shift)
{
	unsigned at = 0;

	memset(count, 0, sizeof count);
	for (int i = 0; i < n; i++)
		count[(from[i] ^ 0x80000000u) >> shift & 0xffff]++;
	for (int i = 0; i < 65536; i++) {
		unsigned c = count[i];

		count[i] = at;
		at += c;
	}
	for (int i = 0; i < n; i++)
		to[count[(from[i] ^ 0x80000000u) >> shift & 0xffff]++] = from[i];
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	if (room < (size_t)cols) {
		free(scratch);
		scratch = malloc(sizeof *scratch * (room = cols));
	}
	for (long i = 0; i < rows; i++) {
		pass((const unsigned *)x + i * cols, (unsigned *)scratch, cols, 0);
		pass((const unsigned *)scratch, (unsigned *)y + i * cols, cols, 16);
	}
}
