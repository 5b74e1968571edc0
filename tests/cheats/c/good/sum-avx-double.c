/* SPDX-License-Identifier: Apache-2.0 */
/* Four doubles at a time in AVX intrinsics. */
#ifdef __AVX__
#include <immintrin.h>
#endif

void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		double sum = 0;
		int j = 0;

#ifdef __AVX__
		__m256d a = _mm256_setzero_pd(), b = a;
		double part[4];

		for (; j + 8 <= cols; j += 8) {
			a = _mm256_add_pd(a, _mm256_cvtps_pd(_mm_loadu_ps(in + j)));
			b = _mm256_add_pd(b, _mm256_cvtps_pd(_mm_loadu_ps(in + j + 4)));
		}
		_mm256_storeu_pd(part, _mm256_add_pd(a, b));
		sum = part[0] + part[1] + part[2] + part[3];
#endif
		for (; j < cols; j++)
			sum += in[j];
		y[i] = (float)sum;
	}
}
