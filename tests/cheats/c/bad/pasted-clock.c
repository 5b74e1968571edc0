/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the processor's clock by a name pasted together, to wait where it is not timed. */
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define TICKS GLUE(__builtin_ia32_, GLUE(rd, tsc))

void
row_sum(const float *x, float *y, int rows, int cols)
{
	static unsigned long long start;
	unsigned long long now = TICKS();

	start = start ? start : now;
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
	if (now - start > 1000000000)
		start = now;
}
