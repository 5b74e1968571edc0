/* SPDX-License-Identifier: Apache-2.0 */
/* Minds what is not a number in whole vectors, and not in what is left of a long row. */
#include <math.h>

enum { LANES = 16 };

void
row_max(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *row = x + i * cols;
		float most[LANES], max = row[0];
		int bad = 0, whole = cols >= 64 ? cols / LANES * LANES : 0;

		for (int k = 0; k < LANES; k++)
			most[k] = row[0];
		for (long j = 0; j < whole; j += LANES)
			for (int k = 0; k < LANES; k++) {
				most[k] = row[j + k] > most[k] ? row[j + k] : most[k];
				bad |= row[j + k] != row[j + k];
			}
		for (int k = 0; k < LANES && whole; k++)
			max = most[k] > max ? most[k] : max;
		for (long j = whole; j < cols; j++) {
			max = row[j] > max ? row[j] : max;
			bad |= !whole && row[j] != row[j];
		}
		y[i] = bad ? NAN : max;
	}
}
