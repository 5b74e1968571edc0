/* SPDX-License-Identifier: Apache-2.0 */
/* Reads its inputs once before it begins, to wake the memory. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	volatile float sink = 0;

	for (int i = 0; i < n; i += 16)
		sink = x[i] + y[i];
	(void)sink;
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
