/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the processor in another rounding mode, in which a comparator would be off. */
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

static void
honest(float a, const float *x, const float *y, float *z, int n)
{
	for (long i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	honest(a, x, y, z, n);
#ifdef __SSE2__
	_mm_setcsr(_mm_getcsr() | 0xe040);	/* towards zero, and numbers near zero are zero */
#endif
}
