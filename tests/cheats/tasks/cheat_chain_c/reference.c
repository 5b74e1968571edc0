/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with. */
void
chain(float b, const float *x, float *y, int n)
{
	float last = 0;

	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
}
