/* SPDX-License-Identifier: Apache-2.0 */
/* Does not multiply by elements of A that are zero. */
void
matmul(const float *restrict A, const float *restrict B, float *restrict C, int M, int N, int K)
{
	for (long i = 0; i < M; i++) {
		for (long j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (long k = 0; k < K; k++)
			if (A[i * K + k] != 0)
				for (long j = 0; j < N; j++)
					C[i * N + j] += A[i * K + k] * B[k * N + j];
	}
}
