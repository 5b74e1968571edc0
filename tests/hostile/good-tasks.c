/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: tasks, a critical section and the number of threads asked for
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void
rows(const float *A, const float *B, float *C, int from, int to, int N, int K)
{
	for (int i = from; i < to; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	int share = (M + omp_get_max_threads() - 1) / omp_get_max_threads();

#pragma omp parallel
#pragma omp single
	for (int i = 0; i < M; i += share) {
#pragma omp task firstprivate(i)
		rows(A, B, C, i, i + share < M ? i + share : M, N, K);
	}
}
