/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of up to 64 K elements in an array of 512 KiB on the stack, in double. */
#include <math.h>

enum { MOST = 65536 };

static void
small_row(const float *x, float *y, int cols)
{
	double e[MOST], sum = 0, max = x[0];

	for (int j = 1; j < cols; j++)
		max = x[j] > max ? x[j] : max;
	for (int j = 0; j < cols; j++)
		sum += e[j] = expf((float)(x[j] - max));
	for (int j = 0; j < cols; j++)
		y[j] = (float)(e[j] / sum);
}

static void
long_row(const float *x, float *y, int cols)
{
	float max = x[0];
	double sum = 0;

	for (int j = 1; j < cols; j++)
		max = fmaxf(max, x[j]);
	for (int j = 0; j < cols; j++)
		sum += y[j] = expf(x[j] - max);
	for (int j = 0; j < cols; j++)
		y[j] = (float)(y[j] / sum);
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++)
		(cols <= MOST ? small_row : long_row)(x + i * cols, y + i * cols, cols);
}
