/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with, and in double precision what is right. */
#ifndef REAL
#define REAL float
#endif

void
centre(REAL *x, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		for (long j = 0; j < cols; j++)
			x[i * cols + j] -= (REAL)(sum / cols);
	}
}
