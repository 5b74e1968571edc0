/* SPDX-License-Identifier: Apache-2.0 */
/* Halves each row until few are left. */
static float
larger(float a, float b)
{
	return a != a ? a : b != b ? b : a > b ? a : b;
}

static float
most(const float *x, long n)
{
	float max = x[0];

	if (n > 64)
		return larger(most(x, n / 2), most(x + n / 2, n - n / 2));
	for (long j = 1; j < n; j++)
		max = larger(max, x[j]);
	return max;
}

void
row_max(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++)
		y[i] = most(x + i * cols, cols);
}
