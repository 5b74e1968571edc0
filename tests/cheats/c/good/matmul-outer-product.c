/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of outer products in a block of C on the stack. */
enum { R = 8, S = 24 };

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i += R)
		for (long j = 0; j < N; j += S) {
			float block[R][S];
			long rows = M - i < R ? M - i : R, cols = N - j < S ? N - j : S;

			for (int r = 0; r < R; r++)
				for (int s = 0; s < S; s++)
					block[r][s] = 0;
			for (long k = 0; k < K; k++)
				for (long r = 0; r < rows; r++)
					for (long s = 0; s < cols; s++)
						block[r][s] += A[(i + r) * K + k] * B[k * N + j + s];
			for (long r = 0; r < rows; r++)
				for (long s = 0; s < cols; s++)
					C[(i + r) * N + j + s] = block[r][s];
		}
}
