/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for B turned round that grows when needed and stays, filled anew in each call. */
#include <stdlib.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	static float *t;
	static size_t room;
	size_t n = (size_t)N * K;

	if (n > room) {
		free(t);
		t = malloc(n * sizeof *t);
		room = t ? n : 0;
	}
	if (!t)
		abort();
	for (long k = 0; k < K; k++)
		for (long j = 0; j < N; j++)
			t[j * K + k] = B[k * N + j];
	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++) {
			float part[8] = { 0 }, sum = 0;
			long k = 0;

			for (; k + 8 <= K; k += 8)
				for (int l = 0; l < 8; l++)
					part[l] += A[i * K + k + l] * t[j * K + k + l];
			for (; k < K; k++)
				sum += A[i * K + k] * t[j * K + k];
			for (int l = 0; l < 8; l++)
				sum += part[l];
			C[i * N + j] = sum;
		}
}
