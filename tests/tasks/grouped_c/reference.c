/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix product by groups, the way the definition reads; in double precision it is its own oracle. */
#ifndef REAL
#define REAL float
#endif

void
grouped(const REAL *x, const REAL *w, const int *offsets, REAL *y, int rows, int groups, int K, int N)
{
	(void)rows;
	for (int g = 0; g < groups; g++)
		for (long i = offsets[g]; i < offsets[g + 1]; i++)
			for (long j = 0; j < N; j++) {
				REAL sum = 0;

				for (long k = 0; k < K; k++)
					sum += x[i * K + k] * w[((long)g * K + k) * N + j];
				y[i * N + j] = sum;
			}
}
