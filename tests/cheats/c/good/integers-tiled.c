/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of C in pieces of 64 columns that stay in registers. */
void
matmul(const int *A, const int *B, int *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j += 64) {
			unsigned c[64] = { 0 };
			int n = N - j < 64 ? N - j : 64;

			if (n == 64)
				for (int k = 0; k < K; k++)
					for (int l = 0; l < 64; l++)
						c[l] += (unsigned)A[(long)i * K + k] * (unsigned)B[(long)k * N + j + l];
			else
				for (int k = 0; k < K; k++)
					for (int l = 0; l < n; l++)
						c[l] += (unsigned)A[(long)i * K + k] * (unsigned)B[(long)k * N + j + l];
			for (int l = 0; l < n; l++)
				C[(long)i * N + j + l] = (int)c[l];
		}
}
