/* SPDX-License-Identifier: Apache-2.0 */
/* AVX-512 if the processor has it: negative elements are pressed out and zeros expanded in their place. */
#include <immintrin.h>
#include <string.h>

__attribute__((target("avx512f"))) static void
wide(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i += 16) {
		__mmask16 in = n - i >= 16 ? 0xffff : (__mmask16)((1 << (n - i)) - 1);
		__m512 v = _mm512_maskz_loadu_ps(in, x + i);
		__mmask16 keep = _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_NLT_UQ);
		__m512 pressed = _mm512_maskz_compress_ps(keep, v);

		_mm512_mask_storeu_ps(y + i, in, _mm512_maskz_expand_ps(keep, pressed));
	}
}

void
relu(const float *x, float *y, int n)
{
	if (__builtin_cpu_supports("avx512f")) {
		wide(x, y, n);
		return;
	}
	for (int i = 0; i < n; i++)
		y[i] = x[i] < 0 ? 0 : x[i];
}
