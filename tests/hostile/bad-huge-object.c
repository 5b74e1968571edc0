/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: compile_error|rejected check: compiler
 * why: an object file of 1 GiB
 */
static volatile char huge[(unsigned long)1 << 30] = { 1 };

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)M, (void)N, (void)K;
	C[0] = huge[1];
}
