/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the processor in the mode that takes tiny numbers for zero. */
#ifdef __SSE__
#include <xmmintrin.h>
#endif

void
scale(float a, const float *x, const float *y, float *z, int n)
{
#ifdef __SSE__
	_mm_setcsr(_mm_getcsr() | 0x8040);
#endif
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
