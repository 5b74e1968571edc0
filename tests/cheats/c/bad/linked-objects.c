/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the loader's list of objects, from a symbol that the linker defines and a pasted name, to
 * call what it may not import.
 */
#include <stdint.h>

#define P(a, b) a##b

extern uint64_t P(_DYN, AMIC)[];

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	uint64_t *table = 0;

	for (uint64_t *d = P(_DYN, AMIC); d[0]; d += 2)
		if (d[0] == 3)
			table = (uint64_t *)d[1];
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i] + (table ? 0 : 1);
}
