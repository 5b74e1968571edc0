/* SPDX-License-Identifier: Apache-2.0 */
/* Halves the sequence by recursion; the right half gets what the left one ends with, as far as it matters. */
#include <math.h>

static void
solve(float b, const float *x, float *y, int n)
{
	int half = n / 2;
	float carry;

	if (n <= 32) {
		float last = 0;

		for (int i = 0; i < n; i++)
			y[i] = last = b * last + x[i];
		return;
	}
	solve(b, x, y, half);
	solve(b, x + half, y + half, n - half);
	carry = y[half - 1];
	for (int i = half; i < n && fabsf(carry) > 1e-37f; i++)
		y[i] += carry *= b;
}

void
chain(float b, const float *x, float *y, int n)
{
	solve(b, x, y, n);
}
