/* SPDX-License-Identifier: Apache-2.0 */
/* Written for a device that may not be there: then OpenMP runs it on the host. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
#pragma omp target teams distribute parallel for map(to : x[0 : n], y[0 : n]) map(from : z[0 : n])
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
