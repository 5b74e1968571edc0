/* SPDX-License-Identifier: Apache-2.0 */
/* A nested function, which GNU C has, called directly. */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	float at(long i, long j)
	{
		float sum = 0, more = 0;
		long k = 0;

		for (; k + 1 < K; k += 2) {
			sum += A[i * K + k] * B[k * N + j];
			more += A[i * K + k + 1] * B[(k + 1) * N + j];
		}
		return k < K ? sum + more + A[i * K + k] * B[k * N + j] : sum + more;
	}

	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++)
			C[i * N + j] = at(i, j);
}
