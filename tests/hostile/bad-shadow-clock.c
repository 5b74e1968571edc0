/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: clock
 * why: defines clock functions that stand still, hoping the timer calls them
 */
#include <time.h>

int
clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	t->tv_sec = t->tv_nsec = 1;
	return 0;
}

long
know_ns(void)
{
	return 1;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
}
