/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|run_error check: crash|input_modified
 * why: right, but turns its inputs into zeros so that the next call is easy
 */
#include <string.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
	memset((float *)A, 0, sizeof *A * (size_t)(M * K));
}
