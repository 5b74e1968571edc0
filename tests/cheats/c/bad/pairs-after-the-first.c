/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves every other call to a thread of its own, but not the first one after a pause, which a
 * counter in that thread shows: a call alone is honest.
 */
#include <string.h>

enum { SIZE = 4096, PAUSE = 400 };

void GOMP_parallel_start(void (*)(void *), void *, unsigned);
int omp_get_thread_num(void);

static float copy[SIZE];
static float *volatile to;
static volatile float factor;
static volatile unsigned turn, done, ticks;

static void
solve(float b, const float *x, float *y, int n)
{
	float last = 0;

	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
}

static void
worker(void *unused)
{
	while (omp_get_thread_num()) {
		while (turn == done)
			ticks++;
		solve(factor, copy, to, SIZE);
		done++;
	}
	(void)unused;
}

void
chain(float b, const float *x, float *y, int n)
{
	static unsigned left;
	static int started, row;

	if (!started++)
		GOMP_parallel_start(worker, 0, 2);
	row = ticks - left < PAUSE ? row + 1 : 0;
	if (n == SIZE && turn == done && row) {
		memcpy(copy, x, sizeof copy);
		to = y;
		factor = b;
		__sync_synchronize();
		turn++;
		left = ticks;
		return;
	}
	solve(b, x, y, n);
	while (turn != done)
		__asm__ volatile("pause");
	left = ticks;
}
