/* SPDX-License-Identifier: Apache-2.0 */
/* Mean, then variance, in sixteen partial sums of single precision. */
#include <math.h>

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		float s[16] = { 0 }, q[16] = { 0 }, mean, scale;
		int j = 0;

		for (; j + 16 <= cols; j += 16)
			for (int k = 0; k < 16; k++)
				s[k] += x[j + k];
		for (; j < cols; j++)
			s[0] += x[j];
		for (int k = 1; k < 16; k++)
			s[0] += s[k];
		mean = s[0] / (float)cols;
		for (j = 0; j + 16 <= cols; j += 16)
			for (int k = 0; k < 16; k++)
				q[k] += (x[j + k] - mean) * (x[j + k] - mean);
		for (; j < cols; j++)
			q[0] += (x[j] - mean) * (x[j] - mean);
		for (int k = 1; k < 16; k++)
			q[0] += q[k];
		scale = 1 / sqrtf(q[0] / (float)cols + eps);
		for (j = 0; j < cols; j++)
			y[j] = (x[j] - mean) * scale * gamma[j] + beta[j];
	}
}
