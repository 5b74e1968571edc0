/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks by all threads, in which each waits for the one before by OpenMP's ordered depend. */
enum { BLOCK = 16384 };

void
chain(float b, const float *x, float *y, int n)
{
	long blocks = ((long)n + BLOCK - 1) / BLOCK;

#pragma omp parallel for ordered(1) schedule(static, 1) if (blocks > 1)
	for (long k = 0; k < blocks; k++) {
		long end = (k + 1) * BLOCK < n ? (k + 1) * BLOCK : n;
		float last;

#pragma omp ordered depend(sink : k - 1)
		last = k ? y[k * BLOCK - 1] : 0;
		for (long i = k * BLOCK; i < end; i++)
			y[i] = last = b * last + x[i];
#pragma omp ordered depend(source)
	}
}
