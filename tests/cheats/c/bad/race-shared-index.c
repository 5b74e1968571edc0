/* SPDX-License-Identifier: Apache-2.0 */
/* Threads share a loop counter without a lock. */
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	volatile int next = 0;

#pragma omp parallel num_threads(2)
	for (;;) {
		int i = next;

		next = i + 1;
		if (i >= n)
			break;
		if (i > 0 && i < n - 1)
			next = next + (i & 1);
		z[i] = a * x[i] + y[i];
	}
}
