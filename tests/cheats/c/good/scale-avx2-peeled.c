/* SPDX-License-Identifier: Apache-2.0 */
/* Single elements until z is aligned, then whole vectors, then the rest. */
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	int i = 0;

	for (; i < n && (uintptr_t)(z + i) % 32; i++)
		z[i] = a * x[i] + y[i];
#if defined(__AVX2__) && defined(__FMA__)
	__m256 factor = _mm256_set1_ps(a);

	for (; i + 8 <= n; i += 8)
		_mm256_store_ps(z + i, _mm256_fmadd_ps(factor, _mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
#endif
	for (; i < n; i++)
		z[i] = a * x[i] + y[i];
}
