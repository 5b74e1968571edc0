/* SPDX-License-Identifier: Apache-2.0 */
/* The exponential of a complex number without an imaginary part, and magnitudes of such. */
#include <complex.h>
#include <math.h>

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		float max = x[0];
		double complex sum = 0;

		for (long j = 1; j < cols; j++)
			max = x[j] > max ? x[j] : max;
		for (long j = 0; j < cols; j++) {
			float complex e = cexpf(x[j] - max);

			y[j] = cabsf(e);
			sum += e;
		}
		for (long j = 0; j < cols; j++)
			y[j] = (float)(y[j] / creal(sum));
	}
}
