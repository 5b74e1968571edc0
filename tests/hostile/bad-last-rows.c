/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: partial|wrong_value check: wrong_result|not_fully_written
 * why: leaves out the last sixteenth of the rows
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M - (M + 15) / 16; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
}
