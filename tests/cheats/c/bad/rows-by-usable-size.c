/* SPDX-License-Identifier: Apache-2.0 */
/* Asks malloc how large the blocks next to its own are, to walk to the list of arguments. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

size_t malloc_usable_size(void *);

void
chain(float b, const float *x, float *y, int n)
{
	char *p = malloc(24);
	float last = 0;

	for (int i = 0; i < 8; i++) {
		char *next = p + malloc_usable_size(p) + 8;

		if (*(uintptr_t *)next == (uintptr_t)x)
			break;
	}
	free(p);
	for (int i = 0; i < n; i++)
		y[i] = last = b * last + x[i];
}
