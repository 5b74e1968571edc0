/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: four partial sums, added in another order than the reference's
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float s[4] = { 0, 0, 0, 0 };
			int k = 0;

			for (; k + 4 <= K; k += 4)
				for (int u = 0; u < 4; u++)
					s[u] += A[i * K + k + u] * B[(k + u) * N + j];
			for (; k < K; k++)
				s[0] += A[i * K + k] * B[k * N + j];
			C[i * N + j] = (s[0] + s[1]) + (s[2] + s[3]);
		}
}
