/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|run_error check: out_of_bounds_write|crash
 * why: right, but writes 16 floats behind its output
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
	for (int i = 0; i < 16; i++)
		C[M * N + i] = 1;
}
