/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: wrong_value|partial check: wrong_result|not_fully_written
 * why: computes with 8 bits of mantissa where 24 are asked for
 */
#include <string.h>

static float
half(float x)
{
	unsigned bits;

	memcpy(&bits, &x, sizeof bits);
	bits = (bits + 0x8000) & 0xffff0000;
	memcpy(&x, &bits, sizeof x);
	return x;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += half(A[i * K + k]) * half(B[k * N + j]);
			C[i * N + j] = sum;
		}
}
