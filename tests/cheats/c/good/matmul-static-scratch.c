/* SPDX-License-Identifier: Apache-2.0 */
/* A column of B at a time in a static array, written anew for each. */
enum { ROOM = 8192 };

static float column[ROOM];

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long j = 0; j < N; j++) {
		for (long k = 0; k < K && k < ROOM; k++)
			column[k] = B[k * N + j];
		for (long i = 0; i < M; i++) {
			float sum[8] = { 0 };

			for (long k = 0; k < K; k++)
				sum[k % 8] += A[i * K + k] * (k < ROOM ? column[k] : B[k * N + j]);
			C[i * N + j] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
		}
	}
}
