/* SPDX-License-Identifier: Apache-2.0 */
/* One of two functions by the sign bit, from a table of pointers. */
#include <string.h>

static float
same(float x)
{
	return x;
}

static float
nothing(float x)
{
	return x != x ? x : 0;
}

void
relu(const float *x, float *y, int n)
{
	static float (*const by_sign[2])(float) = { same, nothing };

	for (long i = 0; i < n; i++) {
		unsigned bits;

		memcpy(&bits, x + i, sizeof bits);
		y[i] = by_sign[bits >> 31](x[i]);
	}
}
