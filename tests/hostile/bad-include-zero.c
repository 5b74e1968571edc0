/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: compile_error|rejected check: include_path
 * why: an endless file to read for the compiler
 */
#include "/dev/zero"

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
}
