/* SPDX-License-Identifier: Apache-2.0 */
/* Eight summands a turn, entered in the middle. */
static double
sum_of(const float *p, long n)
{
	double s = 0;
	long rounds = (n + 7) / 8;

	switch (n & 7) {
	case 0: do { s += *p++; /* fall through */
	case 7: s += *p++; /* fall through */
	case 6: s += *p++; /* fall through */
	case 5: s += *p++; /* fall through */
	case 4: s += *p++; /* fall through */
	case 3: s += *p++; /* fall through */
	case 2: s += *p++; /* fall through */
	case 1: s += *p++;
		} while (--rounds > 0);
	}
	return s;
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++)
		y[i] = (float)sum_of(x + i * cols, cols);
}
