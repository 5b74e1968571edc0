/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: softmax of every row in double precision. */
#include <math.h>
#include <stddef.h>

void
softmax(const double *x, double *y, int rows, int cols)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < rows; i++) {
		const double *in = x + (size_t)i * cols;
		double *out = y + (size_t)i * cols, max = in[0], sum = 0;

		for (int j = 1; j < cols; j++)
			if (in[j] > max)
				max = in[j];
		for (int j = 0; j < cols; j++)
			sum += out[j] = exp(in[j] - max);
		for (int j = 0; j < cols; j++)
			out[j] /= sum;
	}
}
