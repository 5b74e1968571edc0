/* SPDX-License-Identifier: Apache-2.0 */
/* A maximum and a sum for each block of 256, joined afterwards. */
#include <math.h>

enum { BLOCK = 256 };

struct part {
	float max;
	double sum;
};

static struct part
look(const float *x, int n)
{
	struct part p = { x[0], 0 };

	for (int i = 1; i < n; i++)
		p.max = fmaxf(p.max, x[i]);
	for (int i = 0; i < n; i++)
		p.sum += expf(x[i] - p.max);
	return p;
}

static struct part
join(struct part a, struct part b)
{
	float max = fmaxf(a.max, b.max);

	return (struct part){ max, a.sum * exp(a.max - max) + b.sum * exp(b.max - max) };
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		struct part all = look(in, cols < BLOCK ? cols : BLOCK);

		for (int j = BLOCK; j < cols; j += BLOCK)
			all = join(all, look(in + j, cols - j < BLOCK ? cols - j : BLOCK));
		for (int j = 0; j < cols; j++)
			y[i * cols + j] = (float)(expf(in[j] - all.max) / all.sum);
	}
}
