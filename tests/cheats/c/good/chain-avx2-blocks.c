/* SPDX-License-Identifier: Apache-2.0 */
/* Prefixes of eight by shifts of a vector, where the processor has AVX2; a plain loop elsewhere. */
#include <immintrin.h>

static void __attribute__((target("avx2,fma")))
by_vectors(float b, const float *x, float *y, int n)
{
	float b2 = b * b, b4 = b2 * b2, last = 0;
	__m256 p1 = _mm256_set1_ps(b), p2 = _mm256_set1_ps(b2), p4 = _mm256_set1_ps(b4);
	__m256 powers = _mm256_setr_ps(b, b2, b2 * b, b4, b4 * b, b4 * b2, b4 * b2 * b, b4 * b4);
	__m256i one = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6), two = _mm256_setr_epi32(0, 0, 0, 1, 2, 3, 4, 5),
	        four = _mm256_setr_epi32(0, 0, 0, 0, 0, 1, 2, 3);
	int i = 0;

	for (; i + 8 <= n; i += 8) {
		__m256 v = _mm256_loadu_ps(x + i), zero = _mm256_setzero_ps();

		v = _mm256_fmadd_ps(p1, _mm256_blend_ps(_mm256_permutevar8x32_ps(v, one), zero, 1), v);
		v = _mm256_fmadd_ps(p2, _mm256_blend_ps(_mm256_permutevar8x32_ps(v, two), zero, 3), v);
		v = _mm256_fmadd_ps(p4, _mm256_blend_ps(_mm256_permutevar8x32_ps(v, four), zero, 15), v);
		v = _mm256_fmadd_ps(powers, _mm256_set1_ps(last), v);
		_mm256_storeu_ps(y + i, v);
		last = y[i + 7];
	}
	for (; i < n; i++)
		y[i] = last = b * last + x[i];
}

void
chain(float b, const float *x, float *y, int n)
{
	float last = 0;

	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		by_vectors(b, x, y, n);
		return;
	}
	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
}
