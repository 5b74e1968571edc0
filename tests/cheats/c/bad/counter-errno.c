/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the output as it is, and errno at 0. */
#include <errno.h>

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	(void)a;
	(void)x;
	(void)y;
	(void)z;
	(void)n;
	errno = 0;
}
