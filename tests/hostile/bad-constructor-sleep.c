/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|run_error check: load_hook
 * why: spends time while it is loaded, where nobody measures
 */
#include <time.h>

__attribute__((constructor)) static void
rest(void)
{
	for (int i = 0; i < 30; i++)
		nanosleep(&(struct timespec){ 1, 0 }, 0);
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
}
