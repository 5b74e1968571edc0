/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison turned round, under a pragma by which there is no NaN. */
#pragma GCC optimize("Ofast")

void
relu(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = x[i] > 0 ? x[i] : 0;
}
