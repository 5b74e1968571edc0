/* SPDX-License-Identifier: Apache-2.0 */
/* Copies an input to the output. */
#include <string.h>

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	(void)a, (void)x;
	memcpy(z, y, sizeof *z * (size_t)n);
}
