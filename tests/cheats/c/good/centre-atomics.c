/* SPDX-License-Identifier: Apache-2.0 */
/* Threads take rows from a C11 atomic counter, and centre them in place. */
#include <stdatomic.h>

static _Thread_local double lanes[8];

void
centre(float *restrict x, int rows, int cols)
{
	_Atomic int next = 0;

#pragma omp parallel
	for (int i; (i = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed)) < rows;) {
		float *restrict row = x + (long)i * cols;
		double sum = 0;
		int j = 0;

		for (int k = 0; k < 8; k++)
			lanes[k] = 0;
		for (; j + 8 <= cols; j += 8)
#pragma GCC unroll 8
			for (int k = 0; k < 8; k++)
				lanes[k] += row[j + k];
		for (; j < cols; j++)
			sum += row[j];
		for (int k = 0; k < 8; k++)
			sum += lanes[k];
#pragma GCC ivdep
		for (j = 0; j < cols; j++)
			row[j] -= (float)(sum / cols);
	}
}
