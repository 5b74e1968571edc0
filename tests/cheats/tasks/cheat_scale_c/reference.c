/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
