/* SPDX-License-Identifier: Apache-2.0 */
/* A parallel path whose condition is never true. */
void
chain(float b, const float *x, float *y, int n)
{
	float last = 0;

	if (b > 1000 && n > 1 << 30) {
#pragma omp parallel for
		for (int i = 0; i < n; i++)
			y[i] = x[i];
		return;
	}
	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
}
