/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the normal flow by the compiler's own setjmp and longjmp. */
static float
sum_of(const float *x, long n)
{
	double sum = 0;

	for (long j = 0; j < n; j++)
		sum += x[j];
	return (float)sum;
}

static void *place[5];

void
row_sum(const float *x, float *y, int rows, int cols)
{
	if (__builtin_setjmp(place) == 0) {
		for (long i = 0; i < rows; i++)
			y[i] = sum_of(x + i * cols, cols);
		if (rows < 0)
			__builtin_longjmp(place, 1);
	}
}
