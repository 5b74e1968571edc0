/* SPDX-License-Identifier: Apache-2.0 */
/* A test for NaN that an attribute of the function makes the compiler leave out. */
__attribute__((optimize("finite-math-only"))) static float
largest(const float *x, long n)
{
	float max = x[0];

	for (long j = 1; j < n; j++) {
		if (x[j] != x[j])
			return x[j];
		max = x[j] > max ? x[j] : max;
	}
	return max;
}

void
row_max(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++)
		y[i] = largest(x + i * cols, cols);
}
