/* SPDX-License-Identifier: Apache-2.0 */
/* A simd reduction in double. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		const float *in = x + i * cols;
		double sum = 0;

#pragma omp simd reduction(+ : sum)
		for (long j = 0; j < cols; j++)
			sum += in[j];
		y[i] = (float)sum;
	}
}
