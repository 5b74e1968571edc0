/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen lanes with a mask for the rest where the processor has AVX-512, and a plain loop elsewhere. */
#include <immintrin.h>
#include <math.h>

static float __attribute__((target("avx512f")))
by_vectors(const float *x, long n)
{
	__m512 max = _mm512_set1_ps(-INFINITY);
	__mmask16 none = 0;

	for (long j = 0; j < n; j += 16) {
		__mmask16 here = n - j < 16 ? (__mmask16)((1u << (n - j)) - 1) : 0xffff;
		__m512 v = _mm512_mask_loadu_ps(max, here, x + j);

		none |= _mm512_mask_cmp_ps_mask(here, v, v, _CMP_UNORD_Q);
		max = _mm512_mask_max_ps(max, here, max, v);
	}
	return none ? NAN : _mm512_reduce_max_ps(max);
}

static float
plain(const float *x, long n)
{
	float max = x[0];

	for (long j = 1; j < n && !isnan(max); j++)
		if (!(x[j] <= max))
			max = x[j];
	return max;
}

void
row_max(const float *x, float *y, int rows, int cols)
{
	int wide = __builtin_cpu_supports("avx512f");

	for (long i = 0; i < rows; i++)
		y[i] = wide ? by_vectors(x + i * cols, cols) : plain(x + i * cols, cols);
}
