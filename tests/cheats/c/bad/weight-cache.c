/* SPDX-License-Identifier: Apache-2.0 */
/* Turns B round once for each shape and keeps that, as if weights never changed. */
#include <stdlib.h>

static struct { int N, K; float *turned; } kept[64];
static int count;

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	int s = 0;

	while (s < count && (kept[s].N != N || kept[s].K != K))
		s++;
	if (s == count) {
		if (count == 64 || !(kept[s].turned = malloc(sizeof *B * (size_t)N * (size_t)K)))
			abort();
		kept[s].N = N;
		kept[s].K = K;
		count++;
		for (long k = 0; k < K; k++)
			for (long j = 0; j < N; j++)
				kept[s].turned[j * K + k] = B[k * N + j];
	}
	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++) {
			float sum = 0;

			for (long k = 0; k < K; k++)
				sum += A[i * K + k] * kept[s].turned[j * K + k];
			C[i * N + j] = sum;
		}
}
