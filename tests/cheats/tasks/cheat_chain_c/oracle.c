/* SPDX-License-Identifier: Apache-2.0 */
/* What is right, in double precision. */
void
chain(double b, const double *x, double *y, int n)
{
	double last = 0;

	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
}
