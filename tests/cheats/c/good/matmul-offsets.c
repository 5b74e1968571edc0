/* SPDX-License-Identifier: Apache-2.0 */
/* A table of where rows of B begin, made anew in each call. */
#include <stdlib.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	const float **row = malloc((size_t)K * sizeof *row);

	for (long k = 0; k < K; k++)
		row[k] = B + k * N;
	for (long i = 0; i < M; i++) {
		for (long j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (long k = 0; k < K; k++)
			for (long j = 0; j < N; j++)
				C[i * N + j] += A[i * K + k] * row[k][j];
	}
	free(row);
}
