/* SPDX-License-Identifier: Apache-2.0 */
/* One loop. */
static void
honest(float a, const float *x, const float *y, float *z, int n)
{
	for (long i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	honest(a, x, y, z, n);
}
