/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and variance from every other element where rows are long. */
#include <math.h>

void
layernorm(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols,
    float eps)
{
	int step = cols >= 256 ? 2 : 1;

	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		double sum = 0, square = 0, n = (cols + step - 1) / step, mean;

		for (int j = 0; j < cols; j += step)
			sum += x[j];
		mean = sum / n;
		for (int j = 0; j < cols; j += step)
			square += (x[j] - mean) * (x[j] - mean);
		for (int j = 0; j < cols; j++)
			y[j] = (float)((x[j] - mean) / sqrt(square / n + eps)) * gamma[j] + beta[j];
	}
}
