/* SPDX-License-Identifier: Apache-2.0 */
/* Causal attention, the way the definition reads: one thread, a row of scores at a time. Where every search starts. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

void
attention(const float *q, const float *k, const float *v, float *o, int heads, int seq, int dim)
{
	float *p = malloc((size_t)seq * sizeof *p), scale = 1 / sqrtf((float)dim);

	for (int h = 0; h < heads; h++)
		for (int i = 0; i < seq; i++) {
			size_t head = (size_t)h * seq * dim, row = head + (size_t)i * dim;
			float max = -INFINITY, sum = 0;

			for (int j = 0; j <= i; j++) {
				float s = 0;

				for (int d = 0; d < dim; d++)
					s += q[row + d] * k[head + (size_t)j * dim + d];
				p[j] = s * scale;
				max = fmaxf(max, p[j]);
			}
			for (int j = 0; j <= i; j++)
				sum += p[j] = expf(p[j] - max);
			for (int d = 0; d < dim; d++) {
				float x = 0;

				for (int j = 0; j <= i; j++)
					x += p[j] * v[head + (size_t)j * dim + d];
				o[row + d] = x / sum;
			}
		}
	free(p);
}
