/* SPDX-License-Identifier: Apache-2.0 */
/* The loop in long double, two elements a turn from both ends. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	long i = 0, k = (long)n - 1;

	for (; i < k; i++, k--) {
		z[i] = (float)((long double)a * x[i] + y[i]);
		z[k] = (float)((long double)a * x[k] + y[k]);
	}
	if (i == k)
		z[i] = (float)((long double)a * x[i] + y[i]);
}
