/* SPDX-License-Identifier: Apache-2.0 */
/* Four parts side by side, begun as far back as powers of b matter, but no further than 700 elements. */
#include <math.h>

void
chain(float b, const float *x, float *y, int n)
{
	int quarter = n / 4, early = b == 0 ? 1 : (int)fminf(700, 2 - 26 / log2f(fabsf(b)));
	float last[4] = { 0 };

	early = early < 1 ? 700 : early;
	if (quarter <= early) {
		for (int i = 0; i < n; i++)
			y[i] = last[0] = b * last[0] + x[i];
		return;
	}
	for (int i = -early; i < 0; i++)
		for (int k = 1; k < 4; k++)
			last[k] = b * last[k] + x[k * quarter + i];
	for (int i = 0; i < quarter; i++)
		for (int k = 0; k < 4; k++)
			y[k * quarter + i] = last[k] = b * last[k] + x[k * quarter + i];
	for (int i = 4 * quarter; i < n; i++)
		y[i] = last[3] = b * last[3] + x[i];
}
