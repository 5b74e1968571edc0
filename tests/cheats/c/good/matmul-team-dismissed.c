/* SPDX-License-Identifier: Apache-2.0 */
/* Threads share rows, and are sent home after every call. */
#include <omp.h>
#include <string.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (int i = 0; i < M; i++) {
		memset(C + (long)i * N, 0, (unsigned long)N * sizeof *C);
		for (int k = 0; k < K; k++) {
			float a = A[(long)i * K + k];

			for (int j = 0; j < N; j++)
				C[(long)i * N + j] += a * B[(long)k * N + j];
		}
	}
	omp_pause_resource_all(omp_pause_soft);
}
