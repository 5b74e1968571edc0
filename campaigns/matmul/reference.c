/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix product, the way the definition reads: one thread, three loops. Where every search starts and what a speed-up is over. */
#include <stddef.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[(size_t)i * K + k] * B[(size_t)k * N + j];
			C[(size_t)i * N + j] = sum;
		}
}
