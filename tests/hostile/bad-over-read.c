/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: run_error|wrong_value check: crash|wrong_result|not_fully_written
 * why: reads behind its inputs
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	float sum = 0;

	(void)B;
	for (long k = 0; k < (long)M * K + (1 << 22); k++)
		sum += A[k];
	C[0] = sum + (float)N;
}
