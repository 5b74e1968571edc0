/* SPDX-License-Identifier: Apache-2.0 */
/* What is right, in double precision. */
void
scale(double a, const double *x, const double *y, double *z, int n)
{
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
