/* SPDX-License-Identifier: Apache-2.0 */
/* One plain loop, one step after the other. */
void
chain(float b, const float *x, float *y, int n)
{
	float last = 0;

	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
}
