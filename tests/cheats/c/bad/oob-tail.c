/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds n up to whole vectors, and writes up to 32 numbers behind its output. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	for (long i = 0; i < (n + 32L) / 32 * 32; i++)
		z[i] = i < n ? a * x[i] + y[i] : 0;
}
