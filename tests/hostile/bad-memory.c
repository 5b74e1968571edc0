/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: run_error check: killed|crash|timeout
 * why: takes memory until there is none (64 GiB at most) and writes to what it did not get
 */
#include <stdlib.h>
#include <string.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	for (int i = 0; i < 64; i++)
		memset(malloc((size_t)1 << 30), 1, (size_t)1 << 30);
}
