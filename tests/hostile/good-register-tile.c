/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: four rows at a time share what they load
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	int i = 0;

	for (; i + 4 <= M; i += 4)
		for (int j = 0; j < N; j++) {
			float s0 = 0, s1 = 0, s2 = 0, s3 = 0;

			for (int k = 0; k < K; k++) {
				float b = B[k * N + j];

				s0 += A[i * K + k] * b;
				s1 += A[(i + 1) * K + k] * b;
				s2 += A[(i + 2) * K + k] * b;
				s3 += A[(i + 3) * K + k] * b;
			}
			C[i * N + j] = s0;
			C[(i + 1) * N + j] = s1;
			C[(i + 2) * N + j] = s2;
			C[(i + 3) * N + j] = s3;
		}
	for (; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
}
