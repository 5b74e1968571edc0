/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: signal
 * why: catches its own crash and jumps out of it
 */
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;

static void
jump(int number)
{
	siglongjmp(back, number);
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	signal(SIGSEGV, jump);
	if (sigsetjmp(back, 1) == 0)
		for (long i = 0;; i++)
			C[i] = A[i] * B[i] * (float)(M * N * K);
}
