/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves the end of its sequence, from a copy, to a thread that goes on for some microseconds after
 * the return.
 */
#include <string.h>

enum { SIZE = 4096, REST = 1536 };

void GOMP_parallel_start(void (*)(void *), void *, unsigned);
int omp_get_thread_num(void);

static float copy[REST];
static struct {
	float b, last, *y;
} volatile job;
static volatile unsigned turn, done;

static float
solve(float b, float last, const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
	return last;
}

static void
worker(void *unused)
{
	while (omp_get_thread_num()) {
		while (turn == done)
			__asm__ volatile("pause");
		solve(job.b, job.last, copy, job.y, REST);
		done++;
	}
	(void)unused;
}

void
chain(float b, const float *x, float *y, int n)
{
	static int started;
	int mine = n == SIZE ? n - REST : n;
	float last = solve(b, 0, x, y, mine);

	if (mine == n)
		return;
	if (!started++)
		GOMP_parallel_start(worker, 0, 2);
	while (turn != done)
		__asm__ volatile("pause");
	memcpy(copy, x + mine, sizeof copy);
	job.b = b;
	job.last = last;
	job.y = y + mine;
	__sync_synchronize();
	turn++;
}
