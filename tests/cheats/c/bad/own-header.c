/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the head of its own file in memory, to find what the loader has put there. */
#include <stdint.h>

static const int here;

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	const uint32_t *page = (const uint32_t *)((uintptr_t)&here & ~(uintptr_t)4095);

	while (*page != 0x464c457f)
		page -= 1024;
	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++) {
			float sum = 0;

			for (long k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum + (page ? 0 : 1);
		}
}
