/* SPDX-License-Identifier: Apache-2.0 */
/* Four elements at a time, with powers of the factor that are kept until another factor comes. */
void
chain(float b, const float *x, float *y, int n)
{
	static float last_b, power[4];
	float last = 0;
	int i = 0;

	if (b != last_b || power[0] != b) {
		last_b = power[0] = b;
		for (int k = 1; k < 4; k++)
			power[k] = power[k - 1] * b;
	}
	for (; i + 4 <= n; i += 4) {
		float p0 = x[i], p1 = b * p0 + x[i + 1], p2 = b * p1 + x[i + 2], p3 = b * p2 + x[i + 3];

		y[i] = power[0] * last + p0;
		y[i + 1] = power[1] * last + p1;
		y[i + 2] = power[2] * last + p2;
		y[i + 3] = last = power[3] * last + p3;
	}
	for (; i < n; i++)
		y[i] = last = b * last + x[i];
}
