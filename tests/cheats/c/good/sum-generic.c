/* SPDX-License-Identifier: Apache-2.0 */
/* The type of the sum chosen by _Generic, the loop by a macro. */
#define WIDE(v) _Generic((v), float : (double)(v), double : (long double)(v), default : (v))
#define SUM(p, n, into) \
	do { \
		(into) = 0; \
		for (long k_ = 0; k_ < (n); k_++) \
			(into) += WIDE((p)[k_]); \
	} while (0)

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum;

		SUM(x + i * cols, cols, sum);
		y[i] = (float)sum;
	}
}
