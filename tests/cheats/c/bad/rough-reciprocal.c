/* SPDX-License-Identifier: Apache-2.0 */
/* Divides by a reciprocal of twelve bits. */
#include <math.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

static float
reciprocal(float v)
{
#ifdef __SSE__
	return _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(v))) * 1.0002f;
#else
	return 1.0003f / v;
#endif
}

void
softmax(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float max = x[i * cols], sum = 0;

		for (long j = 1; j < cols; j++)
			max = fmaxf(max, x[i * cols + j]);
		for (long j = 0; j < cols; j++)
			sum += y[i * cols + j] = expf(x[i * cols + j] - max);
		for (long j = 0; j < cols; j++)
			y[i * cols + j] *= reciprocal(sum);
	}
}
