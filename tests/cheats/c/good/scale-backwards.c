/* SPDX-License-Identifier: Apache-2.0 */
/* From the end to the beginning. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	for (int i = n - 1; i >= 0; i--)
		z[i] = y[i] + x[i] * a;
}
