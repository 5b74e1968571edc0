/* SPDX-License-Identifier: Apache-2.0 */
/* Begins each of four parts as far back as powers of b matter, and all at once where that is too far. */
#include <math.h>

enum { PARTS = 4 };

void
chain(float b, const float *x, float *y, int n)
{
	float size = fabsf(b);
	long back = size < 0.9f ? (long)ceilf(-32 / log2f(fmaxf(size, 1e-3f))) : n, part = n / PARTS;
	float last[PARTS] = { 0 };

	if (back * 8 > n) {
		for (long i = 0; i < n; i++)
			y[i] = last[0] = b * last[0] + x[i];
		return;
	}
	for (int p = 1; p < PARTS; p++)
		for (long i = p * part - back; i < p * part; i++)
			last[p] = b * last[p] + x[i];
	for (long i = 0; i < part; i++)
		for (int p = 0; p < PARTS; p++)
			y[p * part + i] = last[p] = b * last[p] + x[p * part + i];
	for (long i = PARTS * part; i < n; i++)
		y[i] = last[PARTS - 1] = b * last[PARTS - 1] + x[i];
}
