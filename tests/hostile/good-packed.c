/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: correct check: none
 * why: panels of B packed into an aligned buffer kept between calls: memory reused, no result kept
 */
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 16 };

static float *panel;
static int room;

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	if (K > room) {
		free(panel);
		panel = aligned_alloc(64, sizeof *panel * WIDTH * (size_t)K);
		room = panel ? K : 0;
		if (!panel)
			abort();
	}
	for (int j0 = 0; j0 < N; j0 += WIDTH) {
		int width = N - j0 < WIDTH ? N - j0 : WIDTH;

		memset(panel, 0, sizeof *panel * WIDTH * (size_t)K);
		for (int k = 0; k < K; k++)
			memcpy(panel + k * WIDTH, B + k * N + j0, sizeof *B * (size_t)width);
		for (int i = 0; i < M; i++) {
			float sum[WIDTH] = { 0 };

			for (int k = 0; k < K; k++)
				for (int j = 0; j < WIDTH; j++)
					sum[j] += A[i * K + k] * panel[k * WIDTH + j];
			memcpy(C + i * N + j0, sum, sizeof *C * (size_t)width);
		}
	}
}
