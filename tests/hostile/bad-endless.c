/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: run_error check: timeout
 * why: never returns
 */
void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	volatile int on = 1;

	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	while (on)
		;
}
