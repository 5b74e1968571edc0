/* SPDX-License-Identifier: Apache-2.0 */
/* The running value in double. */
void
chain(float b, const float *x, float *y, int n)
{
	double last = 0;

	for (int i = 0; i < n; i++)
		y[i] = (float)(last = b * last + x[i]);
}
