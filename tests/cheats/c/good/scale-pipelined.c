/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a block ahead while it computes and stores the one before, with non-temporal stores. */
#include <immintrin.h>
void
scale(float a, const float *x, const float *y, float *z, int n)
{
	int i = 0, whole = n & ~31;
	__m512 f = _mm512_set1_ps(a), x0, x1, y0, y1;

	if (whole) {
		x0 = _mm512_loadu_ps(x), x1 = _mm512_loadu_ps(x + 16);
		y0 = _mm512_loadu_ps(y), y1 = _mm512_loadu_ps(y + 16);
		for (; i + 32 < whole; i += 32) {
			__m512 u0 = _mm512_loadu_ps(x + i + 32), u1 = _mm512_loadu_ps(x + i + 48),
			       w0 = _mm512_loadu_ps(y + i + 32), w1 = _mm512_loadu_ps(y + i + 48);

			_mm512_stream_ps(z + i, _mm512_fmadd_ps(f, x0, y0));
			_mm512_stream_ps(z + i + 16, _mm512_fmadd_ps(f, x1, y1));
			x0 = u0, x1 = u1, y0 = w0, y1 = w1;
		}
		_mm512_stream_ps(z + i, _mm512_fmadd_ps(f, x0, y0));
		_mm512_stream_ps(z + i + 16, _mm512_fmadd_ps(f, x1, y1));
		i += 32;
		_mm_sfence();
	}
	for (; i < n; i++)
		z[i] = a * x[i] + y[i];
}
