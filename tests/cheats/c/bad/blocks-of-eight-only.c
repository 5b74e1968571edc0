/* SPDX-License-Identifier: Apache-2.0 */
/* A size that is no multiple of eight is rounded down. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	for (int i = 0; i + 8 <= n; i += 8)
		for (int k = i; k < i + 8; k++)
			z[k] = a * x[k] + y[k];
}
