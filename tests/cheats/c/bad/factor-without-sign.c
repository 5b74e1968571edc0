/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Powers of b by its logarithm, as if it were never negative or zero: blocks of 16 side by side, to
 * which what came before is added.
 */
#include <math.h>

enum { BLOCK = 16 };

void
chain(float b, const float *x, float *y, int n)
{
	float power[BLOCK], last = 0, log_b = log2f(b);

	for (int k = 0; k < BLOCK; k++)
		power[k] = exp2f((float)(k + 1) * log_b);
	for (int i = 0; i < n; i += BLOCK) {
		float part[BLOCK], sum = 0;
		int m = n - i < BLOCK ? n - i : BLOCK;

		for (int k = 0; k < m; k++)
			part[k] = sum = b * sum + x[i + k];
		for (int k = 0; k < m; k++)
			y[i + k] = part[k] + power[k] * last;
		last = y[i + m - 1];
	}
}
