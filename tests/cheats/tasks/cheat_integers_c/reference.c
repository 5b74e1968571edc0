/* SPDX-License-Identifier: Apache-2.0 */
/* What is right, and what the corpus is compared with. */
void
matmul(const int *A, const int *B, int *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++) {
		unsigned *c = (unsigned *)C + i * N;

		for (long j = 0; j < N; j++)
			c[j] = 0;
		for (long k = 0; k < K; k++)
			for (long j = 0; j < N; j++)
				c[j] += (unsigned)A[i * K + k] * (unsigned)B[k * N + j];
	}
}
