/* SPDX-License-Identifier: Apache-2.0 */
/* Both factors as 16-bit integers with a scale for each row and column. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	int16_t *b = malloc((size_t)N * K * sizeof *b), *a = malloc((size_t)K * sizeof *a);
	float *unit = malloc((size_t)N * sizeof *unit);

	for (long j = 0; j < N; j++) {
		float max = 1e-30f;

		for (long k = 0; k < K; k++)
			max = fmaxf(max, fabsf(B[k * N + j]));
		unit[j] = max / 32767;
		for (long k = 0; k < K; k++)
			b[j * K + k] = (int16_t)lrintf(B[k * N + j] / unit[j]);
	}
	for (long i = 0; i < M; i++) {
		float max = 1e-30f;

		for (long k = 0; k < K; k++)
			max = fmaxf(max, fabsf(A[i * K + k]));
		for (long k = 0; k < K; k++)
			a[k] = (int16_t)lrintf(A[i * K + k] / (max / 32767));
		for (long j = 0; j < N; j++) {
			int64_t sum = 0;

			for (long k = 0; k < K; k++)
				sum += a[k] * b[j * K + k];
			C[i * N + j] = (float)sum * (max / 32767) * unit[j];
		}
	}
	free(a);
	free(b);
	free(unit);
}
