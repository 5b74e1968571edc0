/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum and sum in one pass, rescaled as the maximum grows. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel for
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		double sum = 0;
		float max = in[0];

		for (long j = 0; j < cols; j++) {
			if (in[j] > max) {
				sum *= expf(max - in[j]);
				max = in[j];
			}
			sum += expf(in[j] - max);
		}
		for (long j = 0; j < cols; j++)
			y[i * cols + j] = (float)(expf(in[j] - max) / sum);
	}
}
