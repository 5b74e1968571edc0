/* SPDX-License-Identifier: Apache-2.0 */
/* Unrolled by a pragma, optimised by another. */
#pragma GCC optimize("O3")

void
scale(float a, const float *restrict x, const float *restrict y, float *restrict z, int n)
{
#pragma GCC unroll 8
#pragma GCC ivdep
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
