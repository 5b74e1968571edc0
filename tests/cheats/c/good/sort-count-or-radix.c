/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at all of a row first: small ranges are counted, others sorted by the bytes that differ. */
#include <stdlib.h>
#include <string.h>

enum { RANGE = 2048 };

static void
count(const int *x, int *y, long n, int low, int high)
{
	int many[RANGE] = { 0 };

	for (long j = 0; j < n; j++)
		many[x[j] - low]++;
	for (int v = 0; v <= high - low; v++)
		while (many[v]--)
			*y++ = v + low;
}

static void
radix(const int *x, int *y, long n, unsigned differ)
{
	unsigned *from = malloc(n * sizeof *from), *to = malloc(n * sizeof *to), *swap;

	memcpy(from, x, n * sizeof *from);
	for (int shift = 0; shift < 32; shift += 8) {
		unsigned at[257] = { 0 }, flip = shift == 24 ? 128 : 0;

		if (!(differ >> shift & 255))
			continue;
		for (long j = 0; j < n; j++)
			at[((from[j] >> shift & 255) ^ flip) + 1]++;
		for (int i = 1; i < 257; i++)
			at[i] += at[i - 1];
		for (long j = 0; j < n; j++)
			to[at[(from[j] >> shift & 255) ^ flip]++] = from[j];
		swap = from, from = to, to = swap;
	}
	memcpy(y, from, n * sizeof *y);
	free(from);
	free(to);
}

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		int low = x[0], high = x[0];
		unsigned differ = 0;

		for (long j = 1; j < cols; j++) {
			low = x[j] < low ? x[j] : low;
			high = x[j] > high ? x[j] : high;
			differ |= (unsigned)x[j] ^ (unsigned)x[0];
		}
		if ((long)high - low < RANGE)
			count(x, y, cols, low, high);
		else
			radix(x, y, cols, differ);
	}
}
