/* SPDX-License-Identifier: Apache-2.0 */
/* Returns at once above a million elements. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	for (int i = 0; i < n && n < 1000000; i++)
		z[i] = a * x[i] + y[i];
}
