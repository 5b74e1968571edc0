/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps its weights turned round, for the address that they had: wrong as soon as an optimizer writes new ones there. */
#include <stdlib.h>

static const float *of;
static float *turned;

void
grouped(const float *x, const float *w, const int *offsets, float *y, int rows, int groups, int K, int N)
{
	(void)rows;
	if (w != of) {
		free(turned);
		turned = malloc(sizeof *w * (size_t)groups * (size_t)K * (size_t)N);
		for (long g = 0; g < groups; g++)
			for (long k = 0; k < K; k++)
				for (long j = 0; j < N; j++)
					turned[(g * N + j) * K + k] = w[(g * K + k) * N + j];
		of = w;
	}
	for (long g = 0; g < groups; g++)
		for (long i = offsets[g]; i < offsets[g + 1]; i++)
			for (long j = 0; j < N; j++) {
				float sum = 0;

				for (long k = 0; k < K; k++)
					sum += x[i * K + k] * turned[(g * N + j) * K + k];
				y[i * N + j] = sum;
			}
}
