/* SPDX-License-Identifier: Apache-2.0 */
/* Subtracts the logarithm of the sum in the exponent instead of dividing. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		double sum = 0, max = in[0], log_sum;

		for (int j = 1; j < cols; j++)
			max = fmax(max, in[j]);
		for (int j = 0; j < cols; j++)
			sum += exp(in[j] - max);
		log_sum = log(sum);
		for (int j = 0; j < cols; j++)
			y[i * cols + j] = (float)exp(in[j] - max - log_sum);
	}
}
