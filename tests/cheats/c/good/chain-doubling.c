/* SPDX-License-Identifier: Apache-2.0 */
/* Log n passes, each joining neighbours twice as far apart, while the power of b matters. */
#include <stdlib.h>
#include <string.h>

void
chain(float b, const float *x, float *y, int n)
{
	float *from = malloc((size_t)n * sizeof *from), power = b;

	if (!from)
		abort();
	memcpy(y, x, (size_t)n * sizeof *y);
	for (int gap = 1; gap < n && power != 0; gap *= 2, power *= power) {
		memcpy(from, y, (size_t)n * sizeof *y);
		for (int i = gap; i < n; i++)
			y[i] = from[i] + power * from[i - gap];
	}
	free(from);
}
