/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: restrict and a simd pragma
 */
void
matmul(const float *restrict A, const float *restrict B, float *restrict C, int M, int N, int K)
{
	for (int i = 0; i < M; i++) {
		float *restrict c = C + (long)i * N;

		for (int j = 0; j < N; j++)
			c[j] = 0;
		for (int k = 0; k < K; k++) {
			float a = A[(long)i * K + k];

#pragma omp simd
			for (int j = 0; j < N; j++)
				c[j] += a * B[(long)k * N + j];
		}
	}
}
