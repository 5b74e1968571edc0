/* SPDX-License-Identifier: Apache-2.0 */
/* An instruction in assembly whose size suffix the compiler chooses by the operand, as libraries do. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	for (int r = 0; r < rows; r++) {
		long at = (long)r * cols;
		double s = 0;

		for (int i = 0; i < cols; i++) {
			s += x[at];
			__asm__("add%z0 %1, %0" : "+r"(at) : "i"(1) : "cc");
		}
		y[r] = (float)s;
	}
}
