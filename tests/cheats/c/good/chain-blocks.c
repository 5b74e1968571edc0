/* SPDX-License-Identifier: Apache-2.0 */
/* Eight at a time, by the powers of b, so that the steps wait less for each other. */
void
chain(float b, const float *x, float *y, int n)
{
	float power[8], last = 0;
	int i = 0;

	power[0] = b;
	for (int k = 1; k < 8; k++)
		power[k] = power[k - 1] * b;
	for (; i + 8 <= n; i += 8) {
		float own[8];

		own[0] = x[i];
		for (int k = 1; k < 8; k++)
			own[k] = b * own[k - 1] + x[i + k];
		for (int k = 0; k < 8; k++)
			y[i + k] = own[k] + power[k] * last;
		last = y[i + 7];
	}
	for (; i < n; i++)
		y[i] = last = b * last + x[i];
}
