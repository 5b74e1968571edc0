/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: softmax of every row in double precision. */
#include <stddef.h>

/* As of math.h, and with the vector forms that the mathematical library has of it (4 ulp). */
#pragma omp declare simd notinbranch
double exp(double);

void
softmax(const double *x, double *y, int rows, int cols)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < rows; i++) {
		const double *in = x + (size_t)i * cols;
		double *out = y + (size_t)i * cols, max = in[0], sum = 0;

#pragma omp simd reduction(max : max)
		for (int j = 1; j < cols; j++)
			max = in[j] > max ? in[j] : max;
#pragma omp simd reduction(+ : sum)
		for (int j = 0; j < cols; j++)
			sum += out[j] = exp(in[j] - max);
		for (int j = 0; j < cols; j++)
			out[j] /= sum;
	}
}
