/* SPDX-License-Identifier: Apache-2.0 */
/* Four parts side by side, each begun 60 elements early, which is enough for b = 0.75 and not for one close to 1. */
enum { EARLY = 60 };

void
chain(float b, const float *x, float *y, int n)
{
	int quarter = n / 4;
	float last[4] = { 0 };

	if (quarter <= EARLY) {
		for (int i = 0; i < n; i++)
			y[i] = last[0] = b * last[0] + x[i];
		return;
	}
	for (int i = -EARLY; i < 0; i++)
		for (int k = 1; k < 4; k++)
			last[k] = b * last[k] + x[k * quarter + i];
	for (int i = 0; i < quarter; i++)
		for (int k = 0; k < 4; k++)
			y[k * quarter + i] = last[k] = b * last[k] + x[k * quarter + i];
	for (int i = 4 * quarter; i < n; i++)
		y[i] = last[3] = b * last[3] + x[i];
}
