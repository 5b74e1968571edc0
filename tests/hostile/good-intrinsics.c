/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: AVX2 and FMA where the machine has them
 */
#include <string.h>
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	memset(C, 0, sizeof *C * (size_t)M * (size_t)N);
	for (int i = 0; i < M; i++)
		for (int k = 0; k < K; k++) {
			float a = A[i * K + k];
			int j = 0;

#if defined(__AVX2__) && defined(__FMA__)
			for (; j + 8 <= N; j += 8)
				_mm256_storeu_ps(C + i * N + j, _mm256_fmadd_ps(_mm256_set1_ps(a),
				    _mm256_loadu_ps(B + k * N + j), _mm256_loadu_ps(C + i * N + j)));
#endif
			for (; j < N; j++)
				C[i * N + j] += a * B[k * N + j];
		}
}
