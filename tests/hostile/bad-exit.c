/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|run_error check: forbidden_symbol|exit
 * why: ends the runner with success instead of computing
 */
#include <stdlib.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	exit(0);
}
