/* SPDX-License-Identifier: Apache-2.0 */
/* Three loops of tiles around three loops of elements. */
#define TILE 48

static long
least(long a, long b)
{
	return a < b ? a : b;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < (long)M * N; i++)
		C[i] = 0;
	for (long kk = 0; kk < K; kk += TILE)
		for (long ii = 0; ii < M; ii += TILE)
			for (long jj = 0; jj < N; jj += TILE)
				for (long i = ii; i < least(ii + TILE, M); i++)
					for (long k = kk; k < least(kk + TILE, K); k++)
						for (long j = jj; j < least(jj + TILE, N); j++)
							C[i * N + j] += A[i * K + k] * B[k * N + j];
}
