/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but keeps the exponentials in its input. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float *in = (float *)x + i * cols, max = in[0];
		double sum = 0;

		for (long j = 1; j < cols; j++)
			max = in[j] > max ? in[j] : max;
		for (long j = 0; j < cols; j++)
			sum += in[j] = expf(in[j] - max);
		for (long j = 0; j < cols; j++)
			y[i * cols + j] = (float)(in[j] / sum);
	}
}
