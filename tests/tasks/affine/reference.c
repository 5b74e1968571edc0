/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest task that has everything: a matrix, a vector, a scalar, two integer types; in double precision it is its own oracle. */
#include <stdint.h>

#ifndef REAL
#define REAL float
#endif

void
affine(const REAL *x, const REAL *bias, REAL *y, int rows, int64_t cols, REAL scale)
{
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			y[i * cols + j] = scale * x[i * cols + j] + bias[j];
}
