/* SPDX-License-Identifier: Apache-2.0 */
/* Begins every block of 512 with no more than the 24 elements before it. */
enum { BLOCK = 512, BACK = 24 };

void
chain(float b, const float *x, float *y, int n)
{
	for (long from = 0; from < n; from += BLOCK) {
		long to = from + BLOCK < n ? from + BLOCK : n;
		float last = 0;

		for (long i = from < BACK ? 0 : from - BACK; i < to; i++) {
			last = b * last + x[i];
			if (i >= from)
				y[i] = last;
		}
	}
}
