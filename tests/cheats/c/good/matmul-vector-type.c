/* SPDX-License-Identifier: Apache-2.0 */
/* GNU vector types, loaded and stored by memcpy. */
#include <string.h>

typedef float v8 __attribute__((vector_size(32)));

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (long i = 0; i < M; i++) {
		long j = 0;

		for (; j + 8 <= N; j += 8) {
			v8 sum = { 0 };

			for (long k = 0; k < K; k++) {
				v8 b;

				memcpy(&b, B + k * N + j, sizeof b);
				sum += A[i * K + k] * b;
			}
			memcpy(C + i * N + j, &sum, sizeof sum);
		}
		for (; j < N; j++) {
			float sum = 0;

			for (long k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = sum;
		}
	}
}
