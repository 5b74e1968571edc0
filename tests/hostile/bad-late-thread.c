/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|wrong_value check: forbidden_symbol
 * why: hands the work to a thread and returns before it is done
 */
#include <pthread.h>
#include <time.h>

static struct { const float *a, *b; float *c; int m, n, k; } job;

static void *
work(void *arg)
{
	nanosleep(&(struct timespec){ 0, 20000000 }, 0);
	for (int i = 0; i < job.m; i++)
		for (int j = 0; j < job.n; j++) {
			float sum = 0;

			for (int k = 0; k < job.k; k++)
				sum += job.a[i * job.k + k] * job.b[k * job.n + j];
			job.c[i * job.n + j] = sum;
		}
	return arg;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	pthread_t t;

	job.a = A, job.b = B, job.c = C, job.m = M, job.n = N, job.k = K;
	pthread_create(&t, 0, work, 0);
	pthread_detach(t);
}
