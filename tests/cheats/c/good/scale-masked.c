/* SPDX-License-Identifier: Apache-2.0 */
/* One masked vector for the rest where there is AVX-512. */
#ifdef __AVX512F__
#include <immintrin.h>
#endif

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	int i = 0;

#ifdef __AVX512F__
	__m512 f = _mm512_set1_ps(a);

	for (; i < n; i += 16) {
		__mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);

		_mm512_mask_storeu_ps(z + i, m,
		    _mm512_fmadd_ps(f, _mm512_maskz_loadu_ps(m, x + i), _mm512_maskz_loadu_ps(m,
		    y + i)));
	}
#endif
	for (; i < n; i++)
		z[i] = a * x[i] + y[i];
}
