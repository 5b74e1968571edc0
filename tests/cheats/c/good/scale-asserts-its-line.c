/* SPDX-License-Identifier: Apache-2.0 */
/* Asks which headers there are, asserts with the number of the line, unrolls by pragma. */
#include <assert.h>
#if __has_include(<immintrin.h>)
#include <immintrin.h>
#endif

#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##b
#define CHECK(what) enum { JOIN(checked_in_line_, __LINE__) = 1 / !!(what) }
#define TEXT(x) #x
#define PRAGMA(x) _Pragma(TEXT(x))

CHECK(sizeof(float) == 4);
CHECK(sizeof(long) == 8);
_Static_assert(sizeof(int) == 4, "int");

void
scale(float a, const float *restrict x, const float *restrict y, float *restrict z, int n)
{
	assert(n > 0);
	PRAGMA(GCC unroll 8)
	for (long i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
