/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: sums kept in double
 */
#include <math.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
#pragma omp parallel for collapse(2)
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;

			for (int k = 0; k < K; k++)
				sum = fma(A[i * K + k], B[k * N + j], sum);
			C[i * N + j] = (float)sum;
		}
}
