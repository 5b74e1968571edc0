/* SPDX-License-Identifier: Apache-2.0 */
/* Eight partial means and variances, joined by Chan's formula. */
#include <math.h>

struct moments {
	double n, mean, squares;
};

static void
join(struct moments *a, const struct moments *b)
{
	double n = a->n + b->n, d = b->mean - a->mean;

	if (b->n == 0)
		return;
	a->mean += d * b->n / n;
	a->squares += b->squares + d * d * a->n * b->n / n;
	a->n = n;
}

void
layernorm(const float *x, const float *gamma, const float *beta,
    float *y, int rows, int cols, float eps)
{
	for (long i = 0; i < rows; i++) {
		struct moments lane[8] = { { 0, 0, 0 } };
		double scale;

		for (int j = 0; j < cols; j++) {
			struct moments *m = &lane[j % 8];
			double d = x[i * cols + j] - m->mean;

			m->mean += d / ++m->n;
			m->squares += d * (x[i * cols + j] - m->mean);
		}
		for (int k = 1; k < 8; k++)
			join(&lane[0], &lane[k]);
		scale = 1 / sqrt(lane[0].squares / cols + eps);
		for (int j = 0; j < cols; j++)
			y[i * cols + j] = (float)((x[i * cols + j] - lane[0].mean) * scale * gamma[j] + beta[j]);
	}
}
