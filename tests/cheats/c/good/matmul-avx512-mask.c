/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of sixteen with masks at the right edge where there is AVX-512. */
#ifdef __AVX512F__
#include <immintrin.h>

static void
row(const float *a, const float *B, float *c, long N, long K)
{
	for (long j = 0; j < N; j += 16) {
		__mmask16 some = N - j >= 16 ? 0xffff : (__mmask16)((1u << (N - j)) - 1);
		__m512 sum = _mm512_setzero_ps();

		for (long k = 0; k < K; k++)
			sum = _mm512_fmadd_ps(_mm512_set1_ps(a[k]), _mm512_maskz_loadu_ps(some,
			    B + k * N + j), sum);
		_mm512_mask_storeu_ps(c + j, some, sum);
	}
}
#else
static void
row(const float *a, const float *B, float *c, long N, long K)
{
	for (long j = 0; j < N; j++)
		c[j] = 0;
	for (long k = 0; k < K; k++)
		for (long j = 0; j < N; j++)
			c[j] += a[k] * B[k * N + j];
}
#endif

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++)
		row(A + i * K, B, C + i * N, N, K);
}
