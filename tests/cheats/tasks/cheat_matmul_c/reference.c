/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the corpus is compared with. */
#include <stddef.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++) {
		float *c = C + (size_t)i * N;

		for (int j = 0; j < N; j++)
			c[j] = 0;
		for (int k = 0; k < K; k++)
			for (int j = 0; j < N; j++)
				c[j] += A[(size_t)i * K + k] * B[(size_t)k * N + j];
	}
}
