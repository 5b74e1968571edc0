/* SPDX-License-Identifier: Apache-2.0 */
/* Instances for the shapes that matter, chosen by size, with a general one for all others. */
static inline __attribute__((always_inline)) void
product(const float *A, const float *B, float *C, long M, long N, long K)
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
	if (M == 192 && N == 192 && K == 192)
		product(A, B, C, 192, 192, 192);
	else if (N == 64)
		product(A, B, C, M, 64, K);
	else
		product(A, B, C, M, N, K);
}
