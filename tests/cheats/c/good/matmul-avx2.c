/* SPDX-License-Identifier: Apache-2.0 */
/* A register tile of 4 x 16 in AVX2 intrinsics, plain loops at the edges and elsewhere. */
#include <stddef.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

static void
edge(const float *A, const float *B, float *C, long i0, long i1, long j0, long j1, long N, long K)
{
	for (long i = i0; i < i1; i++)
		for (long j = j0; j < j1; j++) {
			float sum = 0;

			for (long k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	long i = 0;

#if defined(__AVX2__) && defined(__FMA__)
	for (; i + 4 <= M; i += 4) {
		long j = 0;

		for (; j + 16 <= N; j += 16) {
			__m256 sum[4][2];

			for (int r = 0; r < 4; r++)
				sum[r][0] = sum[r][1] = _mm256_setzero_ps();
			for (long k = 0; k < K; k++) {
				__m256 b0 = _mm256_loadu_ps(B + k * N + j);
				__m256 b1 = _mm256_loadu_ps(B + k * N + j + 8);

				for (int r = 0; r < 4; r++) {
					__m256 a = _mm256_broadcast_ss(A + (i + r) * K + k);

					sum[r][0] = _mm256_fmadd_ps(a, b0, sum[r][0]);
					sum[r][1] = _mm256_fmadd_ps(a, b1, sum[r][1]);
				}
			}
			for (int r = 0; r < 4; r++) {
				_mm256_storeu_ps(C + (i + r) * N + j, sum[r][0]);
				_mm256_storeu_ps(C + (i + r) * N + j + 8, sum[r][1]);
			}
		}
		edge(A, B, C, i, i + 4, j, N, N, K);
	}
#endif
	edge(A, B, C, i, M, 0, N, N, K);
}
