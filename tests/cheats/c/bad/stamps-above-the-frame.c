/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, by two threads, and moves what looks like the time when its runner began, anywhere above its
 * own frame, by 700 us.
 */
#include <stdint.h>

enum { WORDS = 280, LATER = 700000 };

static uint64_t before[WORDS];

static void __attribute__((noinline))
move_stamps(void)
{
	volatile uint64_t here = 0;
	volatile uint64_t *p = &here;

	for (int i = 1; i < WORDS; i++) {
		uint64_t now = p[i], since = now - before[i];

		if (before[i] && now >> 34 && now >> 40 < 0x50 && since > 20000 && since < 100000000000)
			p[i] = now += LATER;
		before[i] = now;
	}
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
#pragma omp parallel for schedule(static)
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
	move_stamps();
}
