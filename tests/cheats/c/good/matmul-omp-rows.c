/* SPDX-License-Identifier: Apache-2.0 */
/* Rows spread over OpenMP's threads. */
#include <stddef.h>

void
matmul(const float *restrict A, const float *restrict B, float *restrict C, int M, int N, int K)
{
#pragma omp parallel for schedule(static) if ((long)M * N * K > 100000)
	for (int i = 0; i < M; i++) {
		float *restrict c = C + (size_t)i * N;

		for (int j = 0; j < N; j++)
			c[j] = 0;
		for (int k = 0; k < K; k++) {
			const float a = A[(size_t)i * K + k];
			const float *restrict b = B + (size_t)k * N;

			for (int j = 0; j < N; j++)
				c[j] += a * b[j];
		}
	}
}
