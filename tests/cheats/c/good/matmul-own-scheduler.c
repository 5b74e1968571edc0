/* SPDX-License-Identifier: Apache-2.0 */
/* Threads take blocks of rows from a counter that they share, by an atomic. */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	int next = 0;

#pragma omp parallel if ((long)M * N * K > 100000)
	for (;;) {
		long from = __atomic_fetch_add(&next, 8, __ATOMIC_RELAXED), to = from + 8;

		if (from >= M)
			break;
		for (long i = from; i < to && i < M; i++) {
			for (long j = 0; j < N; j++)
				C[i * N + j] = 0;
			for (long k = 0; k < K; k++)
				for (long j = 0; j < N; j++)
					C[i * N + j] += A[i * K + k] * B[k * N + j];
		}
	}
}
