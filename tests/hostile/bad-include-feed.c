/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: include_path
 * why: includes a file by an absolute path, with a form feed where a blank is expected, so that an error message quotes it
 */
#include "/etc/ld.so.cache"

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
}
