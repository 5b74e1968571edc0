/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: B turned round in memory of its own
 */
#include <stdlib.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *T = malloc(sizeof *T * (size_t)K * (size_t)N);

	if (!T)
		abort();
	for (int k = 0; k < K; k++)
		for (int j = 0; j < N; j++)
			T[(long)j * K + k] = B[(long)k * N + j];
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

#pragma omp simd reduction(+ : sum)
			for (int k = 0; k < K; k++)
				sum += A[(long)i * K + k] * T[(long)j * K + k];
			C[(long)i * N + j] = sum;
		}
	free(T);
}
