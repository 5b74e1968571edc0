/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: wrong_value check: wrong_result|not_fully_written
 * why: leaves pointers to its inputs in the output instead of values
 */
#include <string.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	const float *pointers[2] = { A, B };

	(void)K;
	for (int i = 0; i + 4 <= M * N; i += 4)
		memcpy(C + i, pointers, sizeof pointers);
}
