/* SPDX-License-Identifier: Apache-2.0 */
/* Partial sums kept like the digits of a binary counter. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (long i = 0; i < rows; i++) {
		float digit[32], sum = 0;

		for (unsigned j = 0; j < (unsigned)cols; j++) {
			float carry = x[i * cols + j];
			int d = 0;

			for (; j >> d & 1; d++)
				carry += digit[d];
			digit[d] = carry;
		}
		for (int d = 0; d < 31; d++)
			if ((unsigned)cols >> d & 1)
				sum += digit[d];
		y[i] = sum;
	}
}
