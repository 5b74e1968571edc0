/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch memory that an attribute frees at the end of its scope. */
#include <math.h>
#include <stdlib.h>

static void
drop(float **p)
{
	free(*p);
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++, x += cols, y += cols) {
		__attribute__((cleanup(drop))) float *e = malloc((size_t)cols * sizeof *e);
		float max = x[0], sum = 0;

		for (int j = 1; j < cols; j++)
			max = fmaxf(max, x[j]);
		for (int j = 0; j < cols; j++)
			sum += e[j] = expf(x[j] - max);
		for (int j = 0; j < cols; j++)
			y[j] = e[j] / sum;
	}
}
