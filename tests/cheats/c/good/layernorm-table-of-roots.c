/* SPDX-License-Identifier: Apache-2.0 */
/* One over a root from a table that is made in the first call, from no input, and two steps of Newton. */
#include <math.h>

enum { TABLE = 1024 };

static double
root(double v)
{
	static double table[TABLE];
	int e;
	double m = frexp(v, &e), r;

	if (!table[0])
		for (int i = 0; i < TABLE; i++)
			table[i] = 1 / sqrt(0.5 + (i + 0.5) / (2 * TABLE));
	r = table[(int)((m - 0.5) * 2 * TABLE)];
	r = r * (1.5 - 0.5 * m * r * r);
	r = r * (1.5 - 0.5 * m * r * r);
	return ldexp(e & 1 ? r * M_SQRT1_2 : r, -(e >> 1));
}

void
layernorm(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		double mean = 0, var = 0, r;

		for (long j = 0; j < cols; j++)
			mean += x[j];
		mean /= cols;
		for (long j = 0; j < cols; j++)
			var += (x[j] - mean) * (x[j] - mean);
		r = root(var / cols + eps);
		for (long j = 0; j < cols; j++)
			y[j] = (float)((x[j] - mean) * r * gamma[j] + beta[j]);
	}
}
