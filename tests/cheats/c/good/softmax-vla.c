/* SPDX-License-Identifier: Apache-2.0 */
/* Exponentials in an array of variable length on the stack, where the row is short. */
#include <math.h>
#include <string.h>

static void
small(const float *in, float *out, int cols, float max)
{
	float kept[cols];
	double sum = 0;

	for (int j = 0; j < cols; j++)
		sum += kept[j] = expf(in[j] - max);
	for (int j = 0; j < cols; j++)
		kept[j] = (float)(kept[j] / sum);
	memcpy(out, kept, sizeof kept);
}

static void
large(const float *in, float *out, int cols, float max)
{
	double sum = 0;

	for (int j = 0; j < cols; j++)
		sum += expf(in[j] - max);
	for (int j = 0; j < cols; j++)
		out[j] = (float)(expf(in[j] - max) / sum);
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float max = x[i * cols];

		for (int j = 1; j < cols; j++)
			max = x[i * cols + j] > max ? x[i * cols + j] : max;
		(cols <= 1024 ? small : large)(x + i * cols, y + i * cols, cols, max);
	}
}
