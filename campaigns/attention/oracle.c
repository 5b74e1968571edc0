/* SPDX-License-Identifier: Apache-2.0 */
/* What is right: causal attention in double precision. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* Query I of a head; P holds its scores. */
static void
one_query(const double *q, const double *k, const double *v, double *o, double *p, int i, int dim)
{
	double max = -INFINITY, sum = 0;

	for (int j = 0; j <= i; j++) {
		p[j] = 0;
		for (int d = 0; d < dim; d++)
			p[j] += q[(size_t)i * dim + d] * k[(size_t)j * dim + d];
		p[j] /= sqrt((double)dim);
		max = fmax(max, p[j]);
	}
	for (int j = 0; j <= i; j++)
		sum += p[j] = exp(p[j] - max);
	for (int d = 0; d < dim; d++)
		o[(size_t)i * dim + d] = 0;
	for (int j = 0; j <= i; j++)
		for (int d = 0; d < dim; d++)
			o[(size_t)i * dim + d] += p[j] / sum * v[(size_t)j * dim + d];
}

void
attention(const double *q, const double *k, const double *v, double *o, int heads, int seq, int dim)
{
#pragma omp parallel
	{
		double *p = malloc((size_t)seq * sizeof *p);

#pragma omp for collapse(2) schedule(dynamic, 16)
		for (int h = 0; h < heads; h++)
			for (int i = 0; i < seq; i++) {
				size_t head = (size_t)h * seq * dim;

				one_query(q + head, k + head, v + head, o + head, p, i, dim);
			}
		free(p);
	}
}
