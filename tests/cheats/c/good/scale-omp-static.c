/* SPDX-License-Identifier: Apache-2.0 */
/* Equal parts for all threads. */
void
scale(float a, const float *restrict x, const float *restrict y, float *restrict z, int n)
{
#pragma omp parallel for simd schedule(static) if (n > 10000)
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
