/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: partial|wrong_value|rejected check: wrong_result|not_fully_written|timed_run
 * why: computes a tenth of the sum where a call takes long enough to be timed
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	int last = M >= 96 ? K / 10 : K;

	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < last; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
}
