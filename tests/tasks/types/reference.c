/* SPDX-License-Identifier: Apache-2.0 */
/* Every element type, passed through. */
#include <stdint.h>
#include <string.h>

static float
from_bfloat16(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float f;

	memcpy(&f, &wide, sizeof f);
	return f;
}

static uint16_t
to_bfloat16(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void
types(const double *a, const int32_t *n, const uint16_t *h, const _Float16 *q, double *y, int32_t *m, uint16_t *g, _Float16 *p,
    float *acc, int64_t *last, int32_t count, int64_t shift, double factor, int32_t one)
{
	for (int i = 0; i < count; i++) {
		y[i] = a[i] * n[i] * factor;
		m[i] = 2 * n[i] * one;
		p[i] = q[i];
		acc[i] += (float)q[i];
		last[i] = n[i] + shift;
	}
	for (int i = 0; i < 2 * count; i++)
		g[i] = to_bfloat16(2 * from_bfloat16(h[i]));
}
