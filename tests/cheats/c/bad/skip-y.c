/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out the addition and a third of the traffic. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	(void)y;
	for (long i = 0; i < n; i++)
		z[i] = a * x[i];
}
