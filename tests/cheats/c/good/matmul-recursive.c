/* SPDX-License-Identifier: Apache-2.0 */
/* Halves the longest side until the problem is small. */
static void
leaf(const float *A, const float *B, float *C, long m, long n, long k, long lda, long ldb, long ldc)
{
	for (long i = 0; i < m; i++)
		for (long p = 0; p < k; p++)
			for (long j = 0; j < n; j++)
				C[i * ldc + j] += A[i * lda + p] * B[p * ldb + j];
}

static void
halve(const float *A, const float *B, float *C, long m, long n, long k, long lda, long ldb,
    long ldc)
{
	if (m * n * k <= 32 * 32 * 32) {
		leaf(A, B, C, m, n, k, lda, ldb, ldc);
	} else if (m >= n && m >= k) {
		halve(A, B, C, m / 2, n, k, lda, ldb, ldc);
		halve(A + m / 2 * lda, B, C + m / 2 * ldc, m - m / 2, n, k, lda, ldb, ldc);
	} else if (n >= k) {
		halve(A, B, C, m, n / 2, k, lda, ldb, ldc);
		halve(A, B + n / 2, C + n / 2, m, n - n / 2, k, lda, ldb, ldc);
	} else {
		halve(A, B, C, m, n, k / 2, lda, ldb, ldc);
		halve(A + k / 2, B + k / 2 * ldb, C, m, n, k - k / 2, lda, ldb, ldc);
	}
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < (long)M * N; i++)
		C[i] = 0;
	halve(A, B, C, M, N, K, K, N, N);
}
