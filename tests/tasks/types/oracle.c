/* SPDX-License-Identifier: Apache-2.0 */
/* The same in double precision: floating tensors of every width arrive as double, integers as they are. */
#include <stdint.h>

void
types(const double *a, const int32_t *n, const double *h, const double *q, double *y, int32_t *m, double *g, double *p, double *acc,
    int64_t *last, int32_t count, int64_t shift, double factor, int32_t one)
{
	for (int i = 0; i < count; i++) {
		y[i] = a[i] * n[i] * factor;
		m[i] = 2 * n[i] * one;
		p[i] = q[i];
		acc[i] += q[i];
		last[i] = n[i] + shift;
	}
	for (int i = 0; i < 2 * count; i++)
		g[i] = 2 * h[i];
}
