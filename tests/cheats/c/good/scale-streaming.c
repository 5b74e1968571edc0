/* SPDX-License-Identifier: Apache-2.0 */
/* Stores that go past the cache, where the machine has them. */
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	long i = 0;

#ifdef __SSE2__
	for (; i < n && (uintptr_t)(z + i) % 16; i++)
		z[i] = a * x[i] + y[i];
	for (; i + 4 <= n; i += 4)
		_mm_stream_ps(z + i, _mm_add_ps(_mm_mul_ps(_mm_set1_ps(a), _mm_loadu_ps(x + i)), _mm_loadu_ps(y + i)));
	_mm_sfence();
#endif
	for (; i < n; i++)
		z[i] = a * x[i] + y[i];
}
