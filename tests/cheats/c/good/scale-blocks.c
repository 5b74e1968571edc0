/* SPDX-License-Identifier: Apache-2.0 */
/* A block at a time in arrays on the stack. */
#include <string.h>

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	float u[512], v[512];

	for (int i = 0; i < n; i += 512) {
		size_t bytes = sizeof *u * (size_t)(n - i < 512 ? n - i : 512);

		memcpy(u, x + i, bytes);
		memcpy(v, y + i, bytes);
		for (int k = 0; k < (int)(bytes / sizeof *u); k++)
			v[k] += a * u[k];
		memcpy(z + i, v, bytes);
	}
}
