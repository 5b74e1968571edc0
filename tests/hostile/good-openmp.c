/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: rows in parallel
 */
#include <omp.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (int k = 0; k < K; k++)
			for (int j = 0; j < N; j++)
				C[i * N + j] += A[i * K + k] * B[k * N + j];
	}
}
