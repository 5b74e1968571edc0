/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen columns at a time, in sums with names of their own that macros write out. */
#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define DECLARE(n) float s##n = 0;
#define ADD(n) s##n += a * b[n];
#define STORE(n) c[n] = s##n;

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++) {
		long j = 0;

		for (; j + 16 <= N; j += 16) {
			float *c = C + i * N + j;
			EACH(DECLARE)

			for (long k = 0; k < K; k++) {
				const float *b = B + k * N + j;
				float a = A[i * K + k];

				EACH(ADD)
			}
			EACH(STORE)
		}
		for (; j < N; j++) {
			float sum = 0;

			for (long k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
	}
}
