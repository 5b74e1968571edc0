/* SPDX-License-Identifier: Apache-2.0 */
/* Rows spread over threads, a row's maximum beside its count of NaN. */
#include <math.h>

void
row_max(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel for
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		float max = -INFINITY;
		int bad = 0;

		for (long j = 0; j < cols; j++) {
			max = in[j] > max ? in[j] : max;
			bad += in[j] != in[j];
		}
		y[i] = bad ? NAN : max;
	}
}
