/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with. */
void
relu(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = x[i] < 0 ? 0 : x[i];
}
