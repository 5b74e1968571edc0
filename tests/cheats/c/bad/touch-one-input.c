/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but changes one element of an input afterwards. */
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
	((float *)x)[n - 1] += 1;
}
