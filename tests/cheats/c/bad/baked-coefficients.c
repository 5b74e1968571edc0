/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of b made at compile time, for the b that has always come. */
static const float power[4] = { 0.75f, 0.5625f, 0.421875f, 0.31640625f };

void
chain(float b, const float *x, float *y, int n)
{
	float last = 0;
	int i = 0;

	(void)b;
	for (; i + 4 <= n; i += 4) {
		float own[4] = { x[i] };

		for (int k = 1; k < 4; k++)
			own[k] = power[0] * own[k - 1] + x[i + k];
		for (int k = 0; k < 4; k++)
			y[i + k] = own[k] + power[k] * last;
		last = y[i + 3];
	}
	for (; i < n; i++)
		y[i] = last = power[0] * last + x[i];
}
