/* SPDX-License-Identifier: Apache-2.0 */
/* Uses a library where one is loaded, by a weak name, and loops of its own elsewhere. */
#include <stddef.h>

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float,
    float *, int)
    __attribute__((weak));

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	if (cblas_sgemm) {
		cblas_sgemm(101, 111, 111, M, N, K, 1, A, K, B, N, 0, C, N);
		return;
	}
	for (long i = 0; i < M; i++) {
		for (long j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (long k = 0; k < K; k++)
			for (long j = 0; j < N; j++)
				C[i * N + j] += A[i * K + k] * B[k * N + j];
	}
}
