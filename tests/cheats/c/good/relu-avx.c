/* SPDX-License-Identifier: Apache-2.0 */
/* The maximum of the vector unit, with the operands in the order that keeps NaN. */
#ifdef __AVX__
#include <immintrin.h>
#endif

void
relu(const float *x, float *y, int n)
{
	int i = 0;

#ifdef __AVX__
	for (; i + 8 <= n; i += 8)
		_mm256_storeu_ps(y + i, _mm256_max_ps(_mm256_setzero_ps(), _mm256_loadu_ps(x + i)));
#endif
	for (; i < n; i++)
		y[i] = x[i] < 0 ? 0 : x[i];
}
