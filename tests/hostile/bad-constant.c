/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: wrong_value check: wrong_result|not_fully_written
 * why: an output of the right size that has nothing to do with the input
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)K;
	for (int i = 0; i < M * N; i++)
		C[i] = 0;
}
