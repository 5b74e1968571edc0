/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|run_error check: forbidden_symbol|timeout
 * why: stops itself, so that a parent that waits for its end would wait for ever
 */
#include <signal.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	raise(SIGSTOP);
}
