/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|run_error check: load_hook
 * why: acts before the harness calls it, and ends with success
 */
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void
before_all(void)
{
	puts("{\"status\":\"correct\"}");
	exit(0);
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
}
