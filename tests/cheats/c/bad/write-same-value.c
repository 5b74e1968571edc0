/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and writes an input's last element back as it was. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
	*(volatile float *)&x[n - 1] = x[n - 1];
}
