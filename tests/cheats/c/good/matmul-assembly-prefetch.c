/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetches the next row of B by inline assembly where the machine is an x86. */
#include <stddef.h>

static inline void
soon(const void *p)
{
#ifdef __x86_64__
	__asm__ volatile ("prefetcht0 (%0)" : : "r" (p));
#else
	__builtin_prefetch(p);
#endif
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++) {
		float *c = C + (size_t)i * N;

		for (int j = 0; j < N; j++)
			c[j] = 0;
		for (int k = 0; k < K; k++) {
			const float *b = B + (size_t)k * N;

			if (k + 1 < K)
				for (int j = 0; j < N; j += 16)
					soon(b + N + j);
			for (int j = 0; j < N; j++)
				c[j] += A[(size_t)i * K + k] * b[j];
		}
	}
}
