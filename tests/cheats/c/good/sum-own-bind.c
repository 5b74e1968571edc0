/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of its own with the names of others': they bind a row to a view and connect its parts. */
struct view {
	const float *x;
	long n;
};

static struct view
bind(const float *x, long row, long n)
{
	return (struct view){ x + row * n, n };
}

static double
connect(double left, double right)
{
	return left + right;
}

static double
fork(struct view v)
{
	double sum = 0;

	if (v.n > 128)
		return connect(fork((struct view){ v.x, v.n / 2 }),
		    fork((struct view){ v.x + v.n / 2, v.n - v.n / 2 }));
	for (long i = 0; i < v.n; i++)
		sum += v.x[i];
	return sum;
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++)
		y[i] = (float)fork(bind(x, i, cols));
}
