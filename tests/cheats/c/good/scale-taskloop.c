/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenMP taskloop. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(32768)
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
