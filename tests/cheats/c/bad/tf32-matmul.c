/* SPDX-License-Identifier: Apache-2.0 */
/* Both factors with ten bits of fraction, as matrix units take them, sums in double. */
#include <string.h>

static float
rounded(float v)
{
	unsigned u;

	memcpy(&u, &v, sizeof u);
	u = (u + 0x1000) & 0xffffe000;
	memcpy(&v, &u, sizeof v);
	return v;
}

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++)
		for (long j = 0; j < N; j++) {
			double sum = 0;

			for (long k = 0; k < K; k++)
				sum += (double)rounded(A[i * K + k]) * rounded(B[k * N + j]);
			C[i * N + j] = (float)sum;
		}
}
