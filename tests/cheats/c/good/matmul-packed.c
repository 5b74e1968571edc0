/* SPDX-License-Identifier: Apache-2.0 */
/* Panels of B packed into memory that is allocated and freed in each call. */
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 32 };

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	float *panel = malloc((size_t)K * WIDTH * sizeof *panel);

	if (!panel)
		abort();
	for (long j = 0; j < N; j += WIDTH) {
		long width = N - j < WIDTH ? N - j : WIDTH;

		for (long k = 0; k < K; k++) {
			memcpy(panel + k * WIDTH, B + k * N + j, (size_t)width * sizeof *panel);
			memset(panel + k * WIDTH + width, 0,
			    (size_t)(WIDTH - width) * sizeof *panel);
		}
		for (long i = 0; i < M; i++) {
			float sum[WIDTH] = { 0 };

			for (long k = 0; k < K; k++)
				for (int c = 0; c < WIDTH; c++)
					sum[c] += A[i * K + k] * panel[k * WIDTH + c];
			memcpy(C + i * N + j, sum, (size_t)width * sizeof *sum);
		}
	}
	free(panel);
}
