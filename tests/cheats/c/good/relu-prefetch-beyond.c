/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetches a page ahead, also beyond the end, and gives lines back that it is done with. */
#include <immintrin.h>

void
relu(const float *x, float *y, int n)
{
	int i = 0;

	for (; i + 16 <= n; i += 16) {
		__m512 v = _mm512_loadu_ps(x + i);

		_mm_prefetch((const char *)(x + i + 1024), _MM_HINT_T0);
		__builtin_prefetch(y + i + 1024, 1);
		_mm512_storeu_ps(y + i, _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ),
		                            _mm512_setzero_ps()));
		if (i % 1024 == 0)
			_mm_clflushopt((void *)(x + i));
	}
	for (; i < n; i++)
		y[i] = x[i] < 0 ? 0 : x[i];
}
