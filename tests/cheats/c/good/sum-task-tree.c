/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of OpenMP tasks that halve a long row. */
static double
tree(const float *x, long n)
{
	double left, right;

	if (n < 16384) {
		left = 0;
		for (long j = 0; j < n; j++)
			left += x[j];
		return left;
	}
#pragma omp task shared(left)
	left = tree(x, n / 2);
	right = tree(x + n / 2, n - n / 2);
#pragma omp taskwait
	return left + right;
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel if (cols >= 16384)
#pragma omp single
	for (long i = 0; i < rows; i++)
		y[i] = (float)tree(x + i * cols, cols);
}
