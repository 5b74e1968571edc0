/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and reads where the thread's own block lies, by an intrinsic function of the compiler. */
#include <immintrin.h>

#pragma GCC target("fsgsbase")

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	static volatile unsigned long long seen;

	seen = _readfsbase_u64();
	for (int i = 0; i < n; i++)
		z[i] = a * x[i] + y[i];
}
