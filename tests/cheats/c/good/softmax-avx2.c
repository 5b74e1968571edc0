/* SPDX-License-Identifier: Apache-2.0 */
/* An exponential of its own in AVX2 intrinsics, the library's at the end of rows. */
#include <math.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#if defined(__AVX2__) && defined(__FMA__)
static __m256
power_of_e(__m256 x)
{
	static const float c[] = { 1.f / 720, 1.f / 120, 1.f / 24, 1.f / 6, 0.5f, 1, 1 };
	__m256 low = _mm256_set1_ps(-87), n, t, p = _mm256_set1_ps(1.f / 5040);
	__m256 zero = _mm256_cmp_ps(x, low, _CMP_LT_OQ);

	x = _mm256_max_ps(x, low);
	n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
	t = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
	t = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), t);
	for (int i = 0; i < 7; i++)
		p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(c[i]));
	p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n),
	    _mm256_set1_epi32(127)), 23)));
	return _mm256_andnot_ps(zero, p);
}
#endif

static double
exponentials(const float *in, float *out, int cols, float max)
{
	double sum = 0;
	int j = 0;

#if defined(__AVX2__) && defined(__FMA__)
	for (; j + 8 <= cols; j += 8) {
		__m256 e = power_of_e(_mm256_sub_ps(_mm256_loadu_ps(in + j), _mm256_set1_ps(max)));

		_mm256_storeu_ps(out + j, e);
		for (int k = 0; k < 8; k++)
			sum += out[j + k];
	}
#endif
	for (; j < cols; j++)
		sum += out[j] = expf(in[j] - max);
	return sum;
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float max = x[i * cols];
		double sum;

		for (int j = 1; j < cols; j++)
			max = fmaxf(max, x[i * cols + j]);
		sum = exponentials(x + i * cols, y + i * cols, cols, max);
		for (int j = 0; j < cols; j++)
			y[i * cols + j] = (float)(y[i * cols + j] / sum);
	}
}
