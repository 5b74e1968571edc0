/* SPDX-License-Identifier: Apache-2.0 */
/* Does not compute exponentials that are zero in single precision anyway. */
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float *out = y + i * cols, max = in[0];
		double sum = 0;

		for (int j = 1; j < cols; j++)
			if (in[j] > max)
				max = in[j];
		for (int j = 0; j < cols; j++) {
			float d = in[j] - max;

			out[j] = d < -104 ? 0 : expf(d);
			sum += out[j];
		}
		for (int j = 0; j < cols; j++)
			if (out[j] != 0)
				out[j] = (float)(out[j] / sum);
	}
}
