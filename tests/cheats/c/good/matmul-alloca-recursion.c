/* SPDX-License-Identifier: Apache-2.0 */
/* Halves the inner dimension by recursion, with the second half's product in memory from alloca where it is small. */
#include <alloca.h>
#include <string.h>

static void
add(const float *A, const float *B, float *C, int M, int N, int K, int whole)
{
	if (K > 64 && (long)M * N <= 4096) {
		float *other = alloca(sizeof *other * M * N);

		memset(other, 0, sizeof *other * M * N);
		add(A, B, C, M, N, K / 2, whole);
		add(A + K / 2, B + (long)(K / 2) * N, other, M, N, K - K / 2, whole);
		for (long i = 0; i < (long)M * N; i++)
			C[i] += other[i];
		return;
	}
	for (long i = 0; i < M; i++)
		for (long k = 0; k < K; k++)
			for (long j = 0; j < N; j++)
				C[i * N + j] += A[i * whole + k] * B[k * N + j];
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	memset(C, 0, sizeof *C * M * N);
	add(A, B, C, M, N, K, K);
}
