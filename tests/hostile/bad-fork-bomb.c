/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: forbidden_symbol
 * why: makes up to 300 children that stay
 */
#include <unistd.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	for (int i = 0; i < 300; i++)
		if (fork() == 0) {
			sleep(20);
			_exit(0);
		}
}
