/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: compile_error|rejected check: include_path
 * why: makes the compiler print a file of the machine
 */
#include "/etc/shadow"
#include "@CANARY_FILE@"

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
}
