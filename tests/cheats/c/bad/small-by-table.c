/* SPDX-License-Identifier: Apache-2.0 */
/* A product of matrices of zeros and ones by counting bits, and all else in sixteen bits. */
#include <stdlib.h>

static int
is_bits(const float *p, long n)
{
	for (long i = 0; i < n; i += 1 + n / 64)
		if (p[i] != 0 && p[i] != 1)
			return 0;
	return 1;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	int exact = is_bits(A, (long)M * K) && is_bits(B, (long)K * N);

	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++) {
			float sum = 0;

			for (long k = 0; k < K; k++)
				sum += exact ? (A[i * K + k] != 0) & (B[k * N + j] != 0)
				             : (float)(_Float16)A[i * K + k] * (float)(_Float16)B[k * N + j];
			C[i * N + j] = sum;
		}
}
