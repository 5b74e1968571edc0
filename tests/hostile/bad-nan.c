/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: wrong_value check: wrong_result|not_fully_written
 * why: not-a-number everywhere: any comparison with it is false, also "the error is too large"
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)K;
	for (int i = 0; i < M * N; i++)
		C[i] = __builtin_nanf("");
}
