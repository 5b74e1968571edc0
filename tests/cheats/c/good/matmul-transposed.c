/* SPDX-License-Identifier: Apache-2.0 */
/* Turns B round in each call, so that both factors are read along rows. */
#include <stdlib.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *turned = aligned_alloc(64, ((size_t)N * (size_t)K * sizeof *turned + 63) / 64 * 64);

	if (!turned)
		abort();
	for (long k = 0; k < K; k++)
		for (long j = 0; j < N; j++)
			turned[j * K + k] = B[k * N + j];
	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++) {
			double even = 0, odd = 0;
			long k = 0;

			for (; k + 1 < K; k += 2) {
				even += (double)A[i * K + k] * turned[j * K + k];
				odd += (double)A[i * K + k + 1] * turned[j * K + k + 1];
			}
			if (k < K)
				even += (double)A[i * K + k] * turned[j * K + k];
			C[i * N + j] = (float)(even + odd);
		}
	free(turned);
}
