/* SPDX-License-Identifier: Apache-2.0 */
/* A panel of B in memory of each thread's own that stays, and is filled anew before each use. */
enum { WIDTH = 16, DEPTH = 512 };

static _Thread_local float panel[DEPTH * WIDTH] __attribute__((aligned(64)));

static void
strip(const float *A, const float *B, float *C, long j, long M, long N, long K)
{
	long width = N - j < WIDTH ? N - j : WIDTH;

	for (long i = 0; i < M; i++)
		for (long c = 0; c < width; c++)
			C[i * N + j + c] = 0;
	for (long kk = 0; kk < K; kk += DEPTH) {
		long depth = K - kk < DEPTH ? K - kk : DEPTH;

		for (long k = 0; k < depth; k++)
			for (long c = 0; c < WIDTH; c++)
				panel[k * WIDTH + c] = c < width ? B[(kk + k) * N + j + c] : 0;
		for (long i = 0; i < M; i++)
			for (long k = 0; k < depth; k++)
				for (long c = 0; c < width; c++)
					C[i * N + j + c] += A[i * K + kk + k] * panel[k * WIDTH + c];
	}
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
#pragma omp parallel for
	for (long j = 0; j < N; j += WIDTH)
		strip(A, B, C, j, M, N, K);
}
