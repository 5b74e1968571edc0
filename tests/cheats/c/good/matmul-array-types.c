/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers to arrays of variable length instead of index arithmetic. */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	const float (*a)[K] = (const float (*)[K])A, (*b)[N] = (const float (*)[N])B;
	float (*c)[N] = (float (*)[N])C;

	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;

			for (int k = 0; k < K; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = (float)sum;
		}
}
