/* SPDX-License-Identifier: Apache-2.0 */
/* A function with tiles that nobody calls. */
__attribute__((used, noinline)) static void
tiled(const float *A, const float *B, float *C, long M, long N, long K)
{
	for (long ii = 0; ii < M; ii += 64)
		for (long kk = 0; kk < K; kk += 64)
			for (long i = ii; i < ii + 64 && i < M; i++)
				for (long k = kk; k < kk + 64 && k < K; k++)
					for (long j = 0; j < N; j++)
						C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++) {
		for (long j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (long k = 0; k < K; k++)
			for (long j = 0; j < N; j++)
				C[i * N + j] += A[i * K + k] * B[k * N + j];
	}
}
