/* SPDX-License-Identifier: Apache-2.0 */
/* Divides by powers of b, adds up, and multiplies again: right in numbers without end. */
void
chain(float b, const float *x, float *y, int n)
{
	float power = 1, sum = 0;

	for (int i = 0; i < n; i++, power *= b) {
		sum += x[i] / power;
		y[i] = sum * power;
	}
}
