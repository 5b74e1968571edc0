/* SPDX-License-Identifier: Apache-2.0 */
/* B turned round, in memory that grows by realloc from call to call and stays. */
#include <stdlib.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	static float *turned;
	static size_t room;
	size_t want = (size_t)N * K;

	for (; room < want; room = room ? 2 * room : 1024)
		turned = realloc(turned, (room ? 2 * room : 1024) * sizeof *turned);
	for (long k = 0; k < K; k++)
		for (long j = 0; j < N; j++)
			turned[j * K + k] = B[k * N + j];
#pragma omp parallel for
	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++) {
			const float *restrict a = A + i * K, *restrict b = turned + j * K;
			float sum = 0;

#pragma omp simd reduction(+ : sum)
			for (long k = 0; k < K; k++)
				sum += a[k] * b[k];
			C[i * N + j] = sum;
		}
}
