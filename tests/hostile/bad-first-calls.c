/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|wrong_value|partial check: wrong_result|not_fully_written|timed_run
 * why: computes in its first 20 calls only
 */
static int calls;

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	if (calls++ >= 20)
		return;
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
}
