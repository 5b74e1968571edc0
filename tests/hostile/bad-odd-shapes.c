/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: partial|wrong_value check: wrong_result|not_fully_written
 * why: right only for sizes that are multiples of 8
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M / 8 * 8; i++)
		for (int j = 0; j < N / 8 * 8; j++) {
			float sum = 0;

			for (int k = 0; k < K / 8 * 8; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
}
