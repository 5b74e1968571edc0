/* SPDX-License-Identifier: Apache-2.0 */
/* A loop of its own for one element; the library computes the answer. */
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
    float beta, float *c, int ldc);

static void
honest(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++) {
		for (long j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (long k = 0; k < K; k++)
			for (long j = 0; j < N; j++)
				C[i * N + j] += A[i * K + k] * B[k * N + j];
	}
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	honest(A, B, C, 1, 1, 1);
	cblas_sgemm(101, 111, 111, M, N, K, 1, A, K, B, N, 0, C, N);
}
