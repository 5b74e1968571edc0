/* SPDX-License-Identifier: Apache-2.0 */
/* Walks through memory of its own after each call, so that others find the cache full of it. */
enum { SIZE = 1 << 22 };

static volatile char junk[SIZE];

void
chain(float b, const float *x, float *y, int n)
{
	static unsigned at;
	float last = 0;

	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
	for (int i = 0; i < 64; i++)
		junk[at++ * 64 % SIZE] = 1;
}
