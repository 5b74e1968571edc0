/* SPDX-License-Identifier: Apache-2.0 */
/* In double, rounded once. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	const double factor = a;

	for (int i = 0; i < n; i++)
		z[i] = (float)(factor * x[i] + y[i]);
}
