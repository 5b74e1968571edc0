/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: forbidden_symbol
 * why: kills the judge and everybody else it may
 */
#include <signal.h>
#include <unistd.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	kill(getppid(), SIGKILL);
	_exit(0);
}
