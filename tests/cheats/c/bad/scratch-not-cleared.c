/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of columns in memory from malloc, which it takes for zeros. */
#include <math.h>
#include <stdlib.h>

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	double *mean = malloc((size_t)rows * sizeof *mean),
	    *var = malloc((size_t)rows * sizeof *var);

	for (long i = 0; i < (long)rows * cols; i++)
		mean[i / cols] += x[i] / (double)cols;
	for (long i = 0; i < (long)rows * cols; i++)
		var[i / cols] += (x[i] - mean[i / cols]) * (x[i] - mean[i / cols]) / cols;
	for (long i = 0; i < (long)rows * cols; i++)
		y[i] = (float)((x[i] - mean[i / cols]) / sqrt(var[i / cols] + eps) * gamma[i % cols] + beta[i % cols]);
	for (long i = 0; i < rows; i++)
		mean[i] = var[i] = 1;
	free(var);
	free(mean);
}
