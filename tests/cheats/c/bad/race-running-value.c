/* SPDX-License-Identifier: Apache-2.0 */
/* A recurrence as a parallel loop, as if its steps did not depend on each other. */
void
chain(float b, const float *x, float *y, int n)
{
	y[0] = x[0];
#pragma omp parallel for num_threads(2)
	for (int i = 1; i < n; i++)
		y[i] = b * y[i - 1] + x[i];
}
