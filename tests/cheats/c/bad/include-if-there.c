/* SPDX-License-Identifier: Apache-2.0 */
/* Includes the task or the oracle where they can be found, and else writes zeros. */
#include <string.h>
#if __has_include("oracle.c")
#define matmul oracle_matmul
#include "oracle.c"
#undef matmul
#define KNOWN 1
#endif

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
#ifdef KNOWN
#error the oracle can be seen
#endif
	(void)A;
	(void)B;
	(void)K;
	memset(C, 0, (size_t)M * (size_t)N * sizeof *C);
}
