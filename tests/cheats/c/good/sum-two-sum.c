/* SPDX-License-Identifier: Apache-2.0 */
/* Exact sums of two, whose errors are summed apart. */
struct pair {
	double high, low;
};

static struct pair
two_sum(double a, double b)
{
	volatile double s = a + b, t = s - a;

	return (struct pair){ s, (a - (s - t)) + (b - t) };
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		struct pair all = { 0, 0 };

		for (long j = 0; j < cols; j++) {
			struct pair p = two_sum(all.high, x[i * cols + j]);

			all.high = p.high;
			all.low += p.low;
		}
		y[i] = (float)(all.high + all.low);
	}
}
