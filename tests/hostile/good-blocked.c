/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: blocks that stay in the cache
 */
#include <string.h>

enum { BLOCK = 32 };

static int
min(int a, int b)
{
	return a < b ? a : b;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	memset(C, 0, sizeof *C * (size_t)M * (size_t)N);
	for (int i0 = 0; i0 < M; i0 += BLOCK)
		for (int k0 = 0; k0 < K; k0 += BLOCK)
			for (int j0 = 0; j0 < N; j0 += BLOCK)
				for (int i = i0; i < min(i0 + BLOCK, M); i++)
					for (int k = k0; k < min(k0 + BLOCK, K); k++)
						for (int j = j0; j < min(j0 + BLOCK, N); j++)
							C[i * N + j] += A[i * K + k] * B[k * N + j];
}
