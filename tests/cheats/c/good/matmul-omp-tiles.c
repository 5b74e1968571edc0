/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of C as one collapsed loop over threads, chosen at run time. */
enum { T = 32 };

static void
tile(const float *A, const float *B, float *C, long i0, long j0, long M, long N, long K)
{
	float sum[T][T] = { { 0 } };
	long i1 = i0 + T < M ? i0 + T : M, j1 = j0 + T < N ? j0 + T : N;

	for (long k = 0; k < K; k++)
		for (long i = i0; i < i1; i++)
			for (long j = j0; j < j1; j++)
				sum[i - i0][j - j0] += A[i * K + k] * B[k * N + j];
	for (long i = i0; i < i1; i++)
		for (long j = j0; j < j1; j++)
			C[i * N + j] = sum[i - i0][j - j0];
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
#pragma omp parallel for collapse(2) schedule(dynamic)
	for (long i = 0; i < M; i += T)
		for (long j = 0; j < N; j += T)
			tile(A, B, C, i, j, M, N, K);
}
