/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: the same in double precision. */

void
saxpy(const double *x, double *y, int n, double a)
{
	for (int i = 0; i < n; i++)
		y[i] += a * x[i];
}
