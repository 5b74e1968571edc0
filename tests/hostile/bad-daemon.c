/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: forbidden_symbol
 * why: leaves a process of its own session behind and waits
 */
#include <signal.h>
#include <unistd.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	if (fork() == 0) {
		setsid();
		signal(SIGTERM, SIG_IGN);
		if (fork() == 0)
			sleep(20);
		_exit(0);
	}
	sleep(20);
}
