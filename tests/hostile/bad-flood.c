/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected|run_error check: forbidden_symbol|output_flood
 * why: prints without end (256 MiB at most)
 */
#include <stdio.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	(void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
	for (int i = 0; i < 1 << 22; i++)
		puts("{\"status\":\"correct\",\"median_ns\":1}--------------------------");
}
